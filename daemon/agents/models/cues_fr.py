"""French cue words.

Data alone: no rule is decided here.
"""

from daemon.agents.models.cues import Cues, Verbs, Wording, counted, forms, nouns, phrased, valued, words

FRENCH = Cues(
    language="fr",
    known_by=words(
        "le la les un une des du de et est sont ne n' pas avec pour par que qu' qui en dans au aux on"
        " je j' il elle nous vous ils elles ça c' ce cette ces mon ma mes son sa ses notre votre avant"
        " après mais si plus très déjà encore d' l' s' sur a ai ont être fait faut tout aussi chez"
        " jusqu' ou"
    ),
    signs="çœàèêù",
    abbreviations=words(
        "env p.ex ex etc min h mme m mm dr n° janv fév févr avr juil sept oct nov déc tél max approx cf incl"
    ),
    segment_words=words("mais et car cependant donc sinon puis"),
    negations=words("ne n' pas jamais aucun aucune sans ni personne rien"),
    past=words(
        "savait savaient allait était étaient a-été fut avait avaient hier avant-hier dernier dernière"
        " derniers dernières passé passée duré fallait devait"
    ),
    conditions=words("si s'il s' peut-être éventuellement pourrait pourrions serait bien"),
    due=phrased(
        "rendre | le rendre | la rendre | date limite … : | délai … : | échéance | échéance le |"
        " échéance est | à rendre | à rendre le | à rendre pour | date limite | date limite est | délai"
        " | délai jusqu'au | deadline | deadline est | au plus tard | au plus tard le | avant | avant"
        " le | d'ici | d'ici le | d'ici au | pour | à remettre | à livrer | à finir | dernier délai"
    ),
    latest=phrased("au plus tard | dernier délai | impérativement"),
    day_leads=phrased("le jour du"),
    day_parts=words(""),
    until=phrased("jusqu'à | jusqu'au"),
    until_not_with=words(
        "contrat bail court congé congés vacances absent absente malade fermé fermée ouvert ouverte"
        " valable attendre attends attend bloqué pause suis serai sommes déplacement disponible occupé"
        " libre stock du"
    ),
    due_not_after=words(
        "mois ans table réservée réservées jour jours semaine semaines soir nuit entre depuis billets"
        " billet réservé rendez-vous rdv réunion place places"
    ),
    due_fillers=words(
        "est pour avant d'ici d' ici au plus tard fixée fixé à max maximum prochain sera maintenant"
    ),
    within=phrased(
        "d'ici | sous | dans un délai de | en moins de | dans moins de | à rendre dans | dans les"
    ),
    ahead="dans",
    short_weekdays=words("lun mer jeu ven sam dim"),
    short_weekdays_stand=False,
    day_not_before=words("ou dans"),
    takes=phrased(
        "prend | prendra | prendre | prendrait | dure | durera | durer | demande | demandera |"
        " estimation | estimé à | estime | durée | effort | charge | compter | comptez | compte | il"
        " faut compter | il me faut | nécessite | temps estimé"
    ),
    about=phrased(
        "environ | env | à peu près | autour de | approximativement | au maximum | au plus | ~ | grosso modo"
    ),
    about_after=words("c' est ce sera ça fait je pense dirais encore juste seulement"),
    take_fillers=phrased(
        "me | nous | environ | env | à peu près | autour de | approximativement | au moins | au plus |"
        " juste | seulement | de | est | encore | presque | ~ | facilement | bien | à | dans les"
    ),
    duration_not_with=words(
        "vol train bus livraison envoi ferry trajet voyage film réunion colis avion traversée"
    ),
    duration_not_after=words("dans en après depuis chaque pendant durant toutes dernières prochaines"),
    duration_not_before=phrased(
        "plus tard | de retard | de vol | de route | à pied | en voiture | par jour | par semaine | par"
        " mois | avant | après | d'avance | de train | chaque"
    ),
    numbers={"quarante-cinq": 45, "quarante cinq": 45},
    amounts=counted(
        {
            15: "un quart d'heure",
            30: "une demi-heure | demi-heure | une demi heure | demi heure",
            45: "trois quarts d'heure",
            90: "une heure et demie | 1h et demie",
            120: "une paire d'heures | deux bonnes heures",
            240: "une demi-journée | demi-journée | une demi journée",
            480: "une journée | une journée entière | toute la journée",
        }
    ),
    to=phrased("à | ou"),
    and_a_half=phrased("et demie | et demi"),
    minutes=phrased("m | min | mn | minute | minutes"),
    hours=phrased("h | heure | heures"),
    days=phrased("jour | jours | j | journée | journées"),
    to_do=phrased(
        "todo | to do | to-do | à faire | reste à faire | il reste à faire | il faut | je dois | on"
        " doit | il faut acheter | ne pas oublier | ne pas oublier de | penser à | à ne pas oublier |"
        " prochaines étapes | prochaine étape | étapes | tâches | à acheter | acheter | courses | liste"
        " de courses | il manque | manque | à prévoir | à emporter | apporter | actions | points"
        " ouverts | en suspens | on a besoin de"
    ),
    and_words=phrased("et | &"),
    finished=phrased(
        "fait | faite | faits | faites | terminé | terminée | terminés | fini | finie | finis | prêt |"
        " prête | achevé | achevée | bouclé | bouclée | réglé | réglée | done | ✓ | ✔ | ✅ | ☑"
    ),
    unfinished=words(
        "par mauvaise mauvais presque moitié sera seront doit doivent dois faut faudra devrait quand"
        " après avant dès reste encore bientôt commencé cours va vais allons veux veut peux peut pourra"
        " faire sauf partiellement quelqu'un"
    ),
    verbs=Verbs(
        last=False,
        forms=forms(
            "écrire: écrit écrite écrits | faire: fait faite | prendre: pris prise | mettre: mis mise |"
            " recevoir: reçu reçue | ouvrir: ouvert ouverte | lire: lu lue | voir: vu vue | dire: dit |"
            " tenir: tenu | venir: venu | obtenir: obtenu obtenue | offrir: offert offerte | vendre:"
            " vendu vendue | rendre: rendu rendue | peindre: peint peinte | imprimer: imprimé imprimée"
            " | inscrire: inscrit inscrite | conduire: conduit | construire: construit | choisir:"
            " choisi choisie | remettre: remis remise | appeler: appelé appelée | joindre: joint jointe"
        ),
        endings=(
            ("er", ("é", "ée", "és", "ées")),
            ("ir", ("i", "ie", "is", "ies")),
            ("re", ("u", "ue", "us", "ues")),
        ),
        auxiliaries=words("ai a avons ont est sont été"),
        of_others=words("ont"),
        contact=words("appeler demander contacter prévenir rappeler inviter informer relancer remercier"),
        acts=words(
            "prendre rendre mettre vendre faire écrire lire dire répondre attendre remettre refaire"
            " joindre peindre vérifier publier copier trier planifier modifier photocopier remercier"
            " étudier notifier voir recevoir prévoir relire reprendre mettre inscrire"
        ),
        act_endings=phrased("er | ir"),
        no_acts=r".*(?:ier|oir|iver)|foyer|loyer|hier|cher",
    ),
    blocked=phrased(
        "blocked by | bloqué par | bloquée par | bloqués par | bloqué à cause | bloqué : | est bloqué |"
        " en attente de | en attente d | en attente du | en attente des | j'attends | nous attendons |"
        " on attend | attend une réponse | coincé | coincés | coincée | ne peux pas avancer tant | ne"
        " peut pas avancer tant | dans l'attente"
    ),
    blocked_not_before=words("me nous te vous"),
    blocked_not_with=words("café thé bus train taxi tram"),
    on_hold=phrased(
        "en pause | mis en pause | en suspens pour l'instant | mis de côté | reporté sine die | gelé |"
        " mis en veille | on hold"
    ),
    resumed=phrased(
        "n'est plus bloqué | plus bloqué | débloqué | on peut continuer | je peux continuer | on"
        " reprend | n'est plus en pause"
    ),
    started=phrased(
        "j'ai commencé | on a commencé | nous avons commencé | j'ai démarré | on a démarré | je"
        " travaille sur | on travaille sur | j'ai attaqué | je suis dessus | en cours"
    ),
    urgent=valued(
        P0="critique | urgence absolue | tout lâcher",
        P1=(
            "urgent | urgente | urgents | d'urgence | au plus vite | dès que possible | le plus vite"
            " possible | asap | priorité haute | haute priorité | priorité absolue | le plus tôt"
            " possible"
        ),
    ),
    urgent_not_before=words("chemin lecture"),
    urgent_not_after=words("moins plus peu"),
    priority=phrased("priorité | prio"),
    low_priority=phrased("priorité basse | basse priorité | faible priorité | priorité faible"),
    rename=phrased(
        "renommer en | renommer la tâche en | renommer la tâche | renomme en | appelons-la |"
        " appelons-le | changer le titre en"
    ),
    rename_quoted=phrased("nouveau titre | titre | meilleur titre"),
    label=phrased("étiquette | étiquettes | label | tag"),
    wording=Wording(
        says="La note dit : « {quote} »",
        listed="Énuméré dans la note.",
        names="La note nomme « {name} ».",
        evidence="La note du {day} dit : « {quote} »",
        items="liste {done}/{total}",
        due="échéance le {due}",
        about="environ {minutes} min",
        rejected="Refusé : {what}",
        blocked="en attente : {why}",
        nouns=nouns("titre | estimation | échéance | priorité | état | étiquette | point"),
    ),
)
