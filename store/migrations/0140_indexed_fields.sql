-- The fields whose relations this store has indexed, by kind, as "field=relation" in the order of the fields. A version
-- that follows more fields back compares them with its own when it opens the store, and indexes those of the entities
-- that came before. The rows are those of the version before this table.
CREATE TABLE indexed_fields (
  kind TEXT NOT NULL PRIMARY KEY,
  fields TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO indexed_fields VALUES
  ('agent', 'task_id=agent_task'),
  ('agent_state', 'agent_id=agent_state head_message_id=agent_head_message report_id=agent_report_head'),
  ('change_set', 'agent_id=agent_change_set task_id=task_change_set'),
  ('checklist', 'task_id=task_checklist'),
  ('checklist_item', 'checklist_id=checklist_item'),
  ('entry', 'task_id=task_entry'),
  ('link', 'from_id=link_from to_id=link_to'),
  ('message', 'agent_id=agent_message observer_id=agent_observation payload_id=message_payload'
    || ' prev_message_id=message_prev targets=tool_effect'),
  ('report', 'agent_id=agent_report source_span=report_source_span'),
  ('task', 'category_id=task_category'),
  ('time_record', 'task_id=task_time'),
  ('usage', 'agent_id=agent_usage');
