// Holds answers of the door against the schemas of the protocol's own package of the tasks extension, which the
// Inspector brings along. Reads {SCHEMA: [ANSWER, ...]} from standard input; prints a line for each fault.

import { readFileSync } from 'node:fs'
import * as schemas from '@modelcontextprotocol/ext-tasks/core/v2'

const answers = JSON.parse(readFileSync(0, 'utf8'))
for (const [name, values] of Object.entries(answers)) {
  for (const value of values) {
    const parsed = schemas[name].safeParse(value)
    if (!parsed.success) console.log(`${name}: ${parsed.error.message}`)
  }
}
