"""Spanish cue words.

Data alone: no rule is decided here.
"""

from daemon.agents.models.cues import Cues, Verbs, Wording, counted, forms, nouns, phrased, valued, words

SPANISH = Cues(
    language="es",
    known_by=words(
        "el la los las un una unos unas y es son está están no con para por que en de del al lo se me"
        " le nos ha he hay hasta antes pero como si ya muy más su sus mi este esta esto todavía hemos"
        " han tiene hoy ayer mañana sin cuando también porque falta qué desde sobre o a yo"
    ),
    signs="ñ¿¡",
    abbreviations=words(
        "aprox ca p.ej ej etc min hrs sr sra dr dra núm nº ene feb mar abr jun jul ago sep sept oct nov"
        " dic tel máx mín incl"
    ),
    segment_words=words("pero y aunque porque sino luego"),
    negations=words("no nunca jamás sin ni tampoco ningún ninguna nadie nada"),
    past=words(
        "sabía sabían fui vino tuvieron era eran fue fueron estaba estaban tardó duró llevó ayer"
        " anteayer pasado pasada pasados última último tuvo tuve tenía vencía reservamos"
    ),
    conditions=words("si quizá quizás acaso podría podrían sería estaría tal bien ojalá"),
    due=phrased(
        "plazo … : | fecha límite … : | vence | vence el | vencimiento | fecha límite | fecha límite es"
        " | plazo | plazo hasta | plazo es | entrega | entregar | entregarlo | a entregar | a más"
        " tardar | como muy tarde | como tarde | antes de | antes del | deadline | deadline es | para |"
        " límite"
    ),
    latest=phrased("como muy tarde | como tarde | a más tardar | sin falta"),
    day_leads=phrased("el día"),
    day_parts=words(""),
    until=phrased("hasta"),
    until_not_with=words(
        "contrato vacaciones fuera enfermo enferma estoy estaré cerrado abierto abierta válido válida"
        " oferta esperar esperando bloqueado pausa baja viaje ausente disponible ocupado libre stock"
        " desde quedo quedamos de"
    ),
    due_not_after=words(
        "mes meses años reservada reservado día días semana semanas noche entre desde entradas billetes"
        " reservé cita mesa reserva reunión"
    ),
    due_fillers=words("es para antes de del hasta a más tardar como muy tarde máximo será ahora próximo"),
    within=phrased("en menos de | dentro de | en un plazo de | antes de | plazo de | en"),
    ahead="en",
    short_weekdays=words("lun mar mie jue vie sab dom"),
    short_weekdays_stand=False,
    day_not_before=words("o u en"),
    takes=phrased(
        "lleva | llevará | llevar | tarda | tardará | tardar | tardaré | dura | durará | durar | tomará"
        " | toma | tomar | calculo | estimo | estimación | estimado | duración | esfuerzo | necesito |"
        " necesita | me llevará | se tarda | tiempo estimado | harán falta"
    ),
    about=phrased(
        "unos | unas | aproximadamente | aprox | alrededor de | cerca de | más o menos | como mucho | ~"
        " | sobre unas"
    ),
    about_after=words("son serán es será creo que calculo yo diría esto solo otras otros"),
    take_fillers=phrased(
        "me | nos | unos | unas | aproximadamente | aprox | alrededor de | cerca de | más o menos |"
        " como | sobre | casi | solo | sólo | al menos | como mucho | que | es | de | ~ | a lo sumo |"
        " máximo"
    ),
    duration_not_with=words(
        "vuelo tren autobús envío pedido entrega ferry viaje trayecto película reunión paquete reparto"
    ),
    duration_not_after=words(
        "en tras desde cada durante hace últimas últimos próximas próximos dentro después"
    ),
    duration_not_before=phrased(
        "tarde | después | antes | de retraso | de vuelo | en coche | andando | a pie | al día | a la"
        " semana | por día | por semana | al mes | cada | diarias | diarios | de antelación | atrás"
    ),
    numbers={"cuarenta y cinco": 45},
    amounts=counted(
        {
            15: "un cuarto de hora",
            30: "media hora | una media hora",
            45: "tres cuartos de hora",
            90: "hora y media | una hora y media",
            120: "un par de horas | par de horas",
            240: "medio día | media jornada",
            480: "un día entero | una jornada",
            960: "un par de días",
        }
    ),
    to=phrased("a | o"),
    and_a_half=phrased("y media | y medio"),
    minutes=phrased("m | min | minuto | minutos"),
    hours=phrased("h | hr | hrs | hora | horas"),
    days=phrased("día | días | jornada | jornadas"),
    to_do=phrased(
        "todo | to do | to-do | pendiente | pendientes | queda pendiente | por hacer | tareas | tarea |"
        " hay que | tengo que | tenemos que | falta | faltan | hace falta | hacen falta | no olvidar |"
        " no olvidarse de | recordar | próximos pasos | siguientes pasos | próximo paso | comprar |"
        " lista de la compra | la compra | por comprar | traer | llevar | queda por hacer | cosas por"
        " hacer | acciones | necesitamos"
    ),
    and_words=phrased("y | e | &"),
    finished=phrased(
        "hecho | hecha | listo | lista | terminado | terminada | terminé | he terminado | acabado |"
        " acabada | acabé | completado | completada | finalizado | finalizada | done | ✓ | ✔ | ✅ | ☑"
    ),
    unfinished=words(
        "equivocada equivocado estará estarán casi medio mitad será serán hay debe deben debería debo"
        " tengo tenemos que falta faltan todavía aún pronto cuando antes después hasta hasta empezado"
        " siendo quiero quiere puede poder va voy vamos pendiente sin alguien"
    ),
    verbs=Verbs(
        last=False,
        forms=forms(
            "hacer: hecho hecha hice hicimos | escribir: escrito escrita escribí | ver: visto vista |"
            " poner: puesto puse | decir: dicho dije | abrir: abierto abierta | volver: vuelto | ir:"
            " ido fui | traer: traído traje | pagar: pagado pagada pagué | buscar: buscado buscada"
            " busqué | pedir: pedido pedida pedí | entregar: entregado entregada entregué | cargar:"
            " cargado cargué | imprimir: impreso impresa imprimí | resolver: resuelto resuelta |"
            " devolver: devuelto devuelta | sacar: sacado saqué | colocar: colocado coloqué | publicar:"
            " publicado publiqué | conseguir: conseguido conseguí | elegir: elegido elegida elegí"
        ),
        endings=(
            ("zar", ("zado", "zada", "zados", "zadas", "cé")),
            ("car", ("cado", "cada", "cados", "cadas", "qué")),
            ("gar", ("gado", "gada", "gados", "gadas", "gué")),
            ("ar", ("ado", "ada", "ados", "adas", "é")),
            ("er", ("ido", "ida", "idos", "idas", "í")),
            ("ir", ("ido", "ida", "idos", "idas", "í")),
        ),
        auxiliaries=words("ya"),
        of_others=words("ha han"),
        contact=words("llamar preguntar avisar contactar invitar informar recordar"),
        acts=words(""),
        no_acts=r"lugar|mujer|taller|alquiler|hogar|ayer|azucar|celular|familiar|primer|tercer",
        act_endings=phrased(
            "ar | er | ir | arlo | arla | erlo | erla | irlo | irla | arle | erle | irle | arlos |"
            " arlas | arles | erles | irles"
        ),
    ),
    blocked=phrased(
        "blocked by | bloqueado por | bloqueada por | bloqueado hasta | bloqueado : | está bloqueado |"
        " bloqueados por | esperando a | esperando | a la espera de | espero respuesta | esperamos"
        " respuesta | atascado | atascados | atascada | no puedo seguir hasta | no podemos seguir hasta"
        " | depende de la respuesta"
    ),
    blocked_not_before=words("me nos te os"),
    blocked_not_with=words("café té autobús tren taxi comida"),
    on_hold=phrased(
        "en pausa | en espera | pausado | pausada | aparcado | aparcada | aplazado | en el congelador |"
        " queda parado | on hold"
    ),
    resumed=phrased(
        "ya no está bloqueado | desbloqueado | ya no está en pausa | retomamos | retomado | ya podemos"
        " seguir | ya puedo seguir"
    ),
    started=phrased(
        "he empezado | hemos empezado | empecé | empezamos | he comenzado | comencé | estoy trabajando"
        " en | estamos trabajando en | ya estoy con | estoy con | en curso | me he puesto con"
    ),
    urgent=valued(
        P0="crítico | crítica | emergencia | dejarlo todo",
        P1=(
            "urgente | urgentemente | cuanto antes | lo antes posible | lo más pronto posible | asap |"
            " prioridad alta | alta prioridad | máxima prioridad | urge"
        ),
    ),
    urgent_not_before=words("camino ruta lectura"),
    urgent_not_after=words("menos tan más poco"),
    priority=phrased("prioridad | prio"),
    low_priority=phrased("prioridad baja | baja prioridad | poca prioridad"),
    rename=phrased(
        "cambiar el título a | cambia el título a | renombrar a | renombrar la tarea a | renombrarla a"
        " | renómbrala a | renombrar como | cambiar el nombre a | llamarlo | vamos a llamarlo"
    ),
    rename_quoted=phrased("nuevo título | título | mejor título | llamémoslo"),
    label=phrased("etiqueta | etiquetas | label | tag"),
    wording=Wording(
        says="La nota dice: «{quote}»",
        listed="Enumerado en la nota.",
        names="La nota nombra «{name}».",
        evidence="La nota del {day} dice: «{quote}»",
        items="lista {done}/{total}",
        due="vence el {due}",
        about="unos {minutes} min",
        rejected="Rechazado: {what}",
        blocked="a la espera: {why}",
        nouns=nouns("título | estimación | vencimiento | prioridad | estado | etiqueta | punto"),
    ),
)
