"""The removed rules of agents of other makers: who is let in, how much, what they ask, use, and are told.

Never changes the tree itself: rows for `removed_rules.py`.
"""

from typing import Final

from tests.daemon.agents.removed_needs import Removed

AGENTS, POLICY = "daemon/agents/tools/agent_record.py", "daemon/agents/tools/policy.py"
LIMITS, ACTIONS = "daemon/agents/tools/daily_limits.py", "daemon/agents/tools/actions.py"
SETTING_POLICIES = "daemon/agents/person/policy_edits.py"
NEEDED, SETTING_NEEDS = "daemon/agents/tools/presence.py", "daemon/agents/person/presence_edits.py"
ADMITTING, AUTHENTIC = "daemon/agents/person/external_agents.py", "daemon/agents/proposing/authenticity.py"
PROPOSING, VIEWS = "daemon/agents/outside/proposals.py", "daemon/agents/outside/proposal_views.py"
READING, OWN = "daemon/agents/outside/readable_tasks.py", "daemon/agents/outside/own_requests.py"
SIGHT, OWN_ASKS = "daemon/agents/proposing/sight.py", "daemon/agents/asks/own_asks.py"
TOLD, ATTENTION = "daemon/agents/outside/verdicts.py", "daemon/agents/deciding/attention.py"
ASKING, RECORD = "daemon/agents/asks/ask_requests.py", "daemon/agents/asks/ask_record.py"
OUTCOME, DECIDING = "daemon/agents/asks/ask_outcome.py", "daemon/agents/asks/ask_decisions.py"
BOUNDS = "daemon/agents/asks/ask_bounds.py"

_OUTSIDE, _ASKS, _ROUTES = (
    f"tests/daemon/{folder}" for folder in ("agents/outside", "agents/asks", "control/routes")
)
PROPOSAL_HISTORIES = f"{_OUTSIDE}/test_proposal_histories.py"
ADMISSION_TESTS = f"{_OUTSIDE}/test_admission.py"
PROPOSAL_TESTS, NEW_TASK_TESTS = f"{_OUTSIDE}/test_proposals.py", f"{_OUTSIDE}/test_new_tasks.py"
ASK_TESTS, FIRE_TESTS = f"{_ASKS}/test_asks.py", f"{_ASKS}/test_ask_faults.py"
DISK_TESTS, ACTION_TESTS = f"{_ASKS}/test_disks_put_back.py", f"{_ASKS}/test_settings_of_actions.py"
CHANGE_TESTS = f"{_ASKS}/test_changed_arguments.py"
DOOR_TESTS, BAD_ASK_TESTS = f"{_ROUTES}/test_outside.py", f"{_ROUTES}/test_bad_asks.py"
ATTENTION_TESTS = "tests/daemon/agents/deciding/test_attention.py"
NEED_TESTS = "tests/daemon/agents/deciding/test_presence.py"

REMOVED_DOORS: Final = (
    # -- who is let in ------------------------------------------------------------------------------------
    Removed(
        "an agent of another maker works once a person has let it in",
        AGENTS,
        "if is_unadmitted(agent):",
        "if False:",
        PROPOSAL_TESTS,
    ),
    Removed(
        "nobody but a person lets an agent in",
        AGENTS,
        " and version.value == ACTIVE and version.source.by is AuthorKind.USER",
        " and version.value == ACTIVE",
        PROPOSAL_TESTS,
    ),
    Removed(
        "what an agent proposed that nobody let in is no proposal",
        AUTHENTIC,
        " and agent.lifecycle != CREATED",
        "",
        ADMISSION_TESTS,
    ),
    Removed(
        "so many agents wait to be let in",
        ADMITTING,
        "if len(waiting) >= PENDING_MAX:",
        "if False:",
        PROPOSAL_TESTS,
    ),
    Removed(
        "an agent's id is that of its home and name",
        AGENTS,
        "if not isinstance(home, bytes) or external_agent_id(DeviceId(home), name) != agent:",
        "if not isinstance(home, bytes):",
        ADMISSION_TESTS,
    ),
    Removed(
        "a name has no sign that nobody sees",
        ADMITTING,
        "or len(plain) > NAME_CHARS_MAX or unseen:",
        "or len(plain) > NAME_CHARS_MAX:",
        PROPOSAL_TESTS,
    ),
    # -- what it may work on ------------------------------------------------------------------------------
    Removed(
        "an agent of the tightest scope works on no task",
        POLICY,
        "    if scope == NO_TASKS:\n        return ASKS_ONLY\n",
        "",
        PROPOSAL_TESTS,
    ),
    Removed(
        "an agent works on tasks of its categories alone",
        POLICY,
        "if category in allowed or (category is None and not allowed):",
        "if category is not allowed:",
        PROPOSAL_TESTS,
    ),
    Removed(
        "of scopes that were set apart the tightest applies",
        POLICY,
        "return max(scopes, key=SCOPES.index, default=NO_TASKS)",
        "return min(scopes, key=SCOPES.index, default=NO_TASKS)",
        ADMISSION_TESTS,
    ),
    Removed(
        "a list has tasks of an agent's scope alone",
        READING,
        "if task is None or not sight.shows_task(task):",
        "if task is None:",
        DOOR_TESTS,
    ),
    Removed(
        "a task beyond its scope is none for an agent",
        SIGHT,
        " and task.visible and not self._refuses(task)",
        " and task.visible",
        DOOR_TESTS,
    ),
    Removed(
        "nobody joins what another agent proposes beside no task",
        AUTHENTIC,
        'return subject is None or subject.kind == "task"',
        "return True",
        NEW_TASK_TESTS,
    ),
    # -- how much of it -----------------------------------------------------------------------------------
    Removed(
        "an agent proposes so much a day",
        LIMITS,
        "if spent[kind] + amount > limits[kind]:",
        "if amount > limits[kind]:",
        PROPOSAL_TESTS,
    ),
    Removed(
        "of limits that were set apart the lowest applies",
        LIMITS,
        "return min(limits, default=DEFAULTS[kind])",
        "return max(limits, default=DEFAULTS[kind])",
        ADMISSION_TESTS,
    ),
    Removed(
        "an agent asks so often a day",
        ASKING,
        "spend_within_limits(tx, agent, {ASKS: 1, BYTES: size})",
        "spend_within_limits(tx, agent, {BYTES: size})",
        BAD_ASK_TESTS,
    ),
    Removed(
        "an agent asks with so many bytes a day",
        ASKING,
        "spend_within_limits(tx, agent, {ASKS: 1, BYTES: size})",
        "spend_within_limits(tx, agent, {ASKS: 1})",
        BAD_ASK_TESTS,
    ),
    Removed(
        "a request has so many bytes",
        PROPOSING,
        "if len(packed) > REQUEST_BYTES_MAX:",
        "if False:",
        PROPOSAL_TESTS,
    ),
    Removed(
        "so many asks of an agent wait",
        ASKING,
        "if _count_open(tx, agent) >= OPEN_ASKS_MAX:",
        "if False:",
        FIRE_TESTS,
    ),
    Removed(
        "a verdict that does not count makes no room for more asks",
        ASKING,
        "if any(opinion.counts and opinion.by is not AuthorKind.SYSTEM for opinion in opinions):",
        "if any(opinion.by is not AuthorKind.SYSTEM for opinion in opinions):",
        FIRE_TESTS,
    ),
    Removed(
        "an agent's day has a budget of attention",
        ATTENTION,
        "    if len(of_day) < open_per_day:\n",
        "    if len(of_day) >= 0:\n",
        ATTENTION_TESTS,
    ),
    Removed(
        "what a person has in hand is never held back",
        ATTENTION,
        'if item.status != "pending" or item.disputed:',
        "if False:",
        ATTENTION_TESTS,
    ),
    Removed(
        "the arguments of an ask have so many bytes",
        BOUNDS,
        '    require_length("args", length, ARGS_BYTES_MAX)\n',
        "",
        BAD_ASK_TESTS,
    ),
    Removed(
        "a use ends within a week",
        ASKING,
        "if not now_ms < request.not_after <= now_ms + LIFETIME_MAX_MS:",
        "if not now_ms < request.not_after:",
        BAD_ASK_TESTS,
    ),
    Removed(
        "a use ends ahead",
        ASKING,
        "if not now_ms < request.not_after <= now_ms + LIFETIME_MAX_MS:",
        "if not request.not_after <= now_ms + LIFETIME_MAX_MS:",
        BAD_ASK_TESTS,
    ),
    # -- the same key -------------------------------------------------------------------------------------
    Removed(
        "a key is for one request",
        PROPOSING,
        'if stored.value("request_hash") != content.digest:',
        "if False:",
        PROPOSAL_TESTS,
    ),
    Removed(
        "a key is for one ask",
        ASKING,
        "if (before.args_hash, before.options) != (args_hash, tuple(request.options)):",
        "if (before.name, before.args, before.options)"
        " != (request.name, request.args, tuple(request.options)):",
        CHANGE_TESTS,
    ),
    Removed(
        "a key on another task is another request",
        PROPOSING,
        'tagged_digest("outside", id_to_text(agent.id), id_to_text(subject), key)',
        'tagged_digest("outside", id_to_text(agent.id), key)',
        PROPOSAL_HISTORIES,
    ),
    Removed(
        "nothing is taken back that another agent proposes too",
        PROPOSING,
        "        and not item.decisions\n        and is_proposed_by(tx, item, agent)\n",
        "",
        PROPOSAL_HISTORIES,
    ),
    Removed(
        "a paused agent proposes nothing",
        PROPOSING,
        "    if refused is not None:\n        raise refused\n    assert known_agent is not None\n",
        "    assert known_agent is not None\n",
        PROPOSAL_HISTORIES,
    ),
    Removed(
        "what was asked before a restore and not used is asked anew",
        ASKING,
        "if before.replica == tx.replica or genuine_use(tx, before) is not None:",
        "if before is not None:",
        DISK_TESTS,
    ),
    Removed(
        "what was used before a restore is not asked anew",
        ASKING,
        "if before.replica == tx.replica or genuine_use(tx, before) is not None:",
        "if before.replica == tx.replica:",
        DISK_TESTS,
    ),
    # -- a use --------------------------------------------------------------------------------------------
    Removed(
        "a use is a row of this store before it is answered",
        ASKING,
        "        record_granted_use(tx, ask, GrantedUse(execution, args_hash, tx.now_ms()))\n",
        "",
        DISK_TESTS,
    ),
    Removed(
        "a use is a commit before it is answered",
        OUTCOME,
        "    if use is None:\n        return None\n",
        "    if use is None or row is None:\n        return None\n",
        DISK_TESTS,
    ),
    Removed(
        "an agent uses and takes back what it asked itself",
        OWN_ASKS,
        "return stored is not None and stored.agent == agent",
        "return stored is not None",
        BAD_ASK_TESTS,
    ),
    Removed(
        "a retry is granted what the use was",
        RECORD,
        "    return next(iter(named or given), None)\n",
        "    return next(iter(given), None)\n",
        FIRE_TESTS,
    ),
    Removed(
        "what was asked does not change",
        RECORD,
        "        not creation.creates\n        or creation.is_imported\n",
        "        creation.is_imported\n",
        FIRE_TESTS,
    ),
    Removed(
        "a yes is for what the person was shown",
        DECIDING,
        "and shown is not None and shown != original.args_hash:",
        "and shown is None:",
        ASK_TESTS,
    ),
    Removed(
        "what was used is not taken back",
        DECIDING,
        "    if state is AskState.USED:\n",
        "    if False:\n",
        ASK_TESTS,
    ),
    # -- what is set for an action ------------------------------------------------------------------------
    Removed(
        "no other spelling slips past what is set for an action",
        ACTIONS,
        "    key = _plain(name)\n",
        "    key = name\n",
        ACTION_TESTS,
    ),
    Removed(
        "no sign that shows nothing slips past what is set for an action",
        ACTIONS,
        "if unicodedata.category(sign) not in _UNSEEN)",
        ")",
        ACTION_TESTS,
    ),
    Removed(
        "the tool of another server is none of the journal's",
        SETTING_POLICIES,
        "tool_named(name) if is_external else normalised_name(name)",
        "normalised_name(name)",
        ACTION_TESTS,
    ),
    Removed(
        "what is set for a tool says nothing of an ask of that name",
        ACTIONS,
        "<= ACTION_CHARS_MAX or tool_named(key) is not None else key",
        "<= ACTION_CHARS_MAX else key",
        ACTION_TESTS,
    ),
    Removed(
        "an action that is denied is not asked for",
        ASKING,
        "    if denies_action(entity, request.name):\n",
        "    if False:\n",
        ACTION_TESTS,
    ),
    Removed(
        "an action that is denied is not used",
        RECORD,
        "    if denies_action(entity, ask.name):\n",
        "    if False:\n",
        ACTION_TESTS,
    ),
    Removed(
        "a yes is not used if the action needs more since",
        RECORD,
        "return needed > PRESENCES.index(ANY if ask.presence is None else ask.presence.value)",
        "return False",
        ACTION_TESTS,
    ),
    Removed(
        "an action has what it needs of its own",
        NEEDED,
        "    return own or presence_setting(agent, None) or ANY\n",
        "    return presence_setting(agent, None) or ANY\n",
        ACTION_TESTS,
    ),
    Removed(
        "a setting that cannot be read asks for the most",
        NEEDED,
        "isinstance(value, str) and value in PRESENCES else PRESENCES[-1]",
        "isinstance(value, str) and value in PRESENCES else ANY",
        ACTION_TESTS,
    ),
    Removed(
        "what verdicts need is not loosened where the agent works",
        SETTING_NEEDS,
        "if known_agent.home == tx.device and any(",
        "if known_agent is None and any(",
        NEED_TESTS,
    ),
    # -- what an agent is told ----------------------------------------------------------------------------
    Removed(
        "an agent reads sets of its own alone",
        VIEWS,
        ' or change_set.value("agent_id") != agent:',
        ":",
        DOOR_TESTS,
    ),
    Removed(
        "an agent takes back what it alone proposed",
        PROPOSING,
        "        and is_proposed_by(tx, item, agent)\n",
        "",
        PROPOSAL_TESTS,
    ),
    Removed(
        "an agent is told of verdicts on asks of its own alone",
        TOLD,
        "if (ask := read_ask(snapshot, name)) is not None and ask.agent == agent",
        "if (ask := read_ask(snapshot, name)) is not None",
        DOOR_TESTS,
    ),
    Removed(
        "an agent is told of asks of its own that were decided, alone",
        OWN,
        "if (ask := read_ask(snapshot, name)) is not None and ask.agent == agent",
        "if (ask := read_ask(snapshot, name)) is not None",
        DOOR_TESTS,
    ),
    Removed(
        "an agent is told of proposals of its own alone on a task",
        READING,
        "for item in [item for item in waiting if item.agent_id == own][:PROPOSALS_MAX]",
        "for item in waiting[:PROPOSALS_MAX]",
        DOOR_TESTS,
    ),
    Removed(
        "an agent is told of verdicts on its own proposals alone on a task",
        READING,
        "for record in [record for record in listed if record.agent_id == agent][:PROPOSALS_MAX]",
        "for record in listed[:PROPOSALS_MAX]",
        DOOR_TESTS,
    ),
)
"""The rows."""
