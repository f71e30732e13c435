// A client of the door by the TypeScript SDK: `node client.mjs PLACET NAME STEP...` starts the door, takes one step
// after the other, and prints a line of JSON for each. A step is {"tool": ..., "args": ...}, {"read": ADDRESS}, or
// {"watch": ADDRESS}, which prints a line when it has subscribed, and another one when a notice came.

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'

const [placet, name, ...steps] = process.argv.slice(2)
const client = new Client({ name: 'placet-tests', version: '1' })
const say = (line) => process.stdout.write(JSON.stringify(line) + '\n')

async function watch(address) {
  const notice = new Promise((announced) => {
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => announced(params.uri))
  })
  await client.subscribeResource({ uri: address })
  say({ subscribed: address })
  return { announced: await notice }
}

async function take(step) {
  if (step.tool) return (await client.callTool({ name: step.tool, arguments: step.args ?? {} })).structuredContent
  if (step.read) return JSON.parse((await client.readResource({ uri: step.read })).contents[0].text)
  return await watch(step.watch)
}

await client.connect(new StdioClientTransport({ command: placet, args: ['mcp', '--as', name], env: process.env }))
say({ server: client.getServerVersion().name, tools: (await client.listTools()).tools.map((tool) => tool.name) })
for (const step of steps) say(await take(JSON.parse(step)))
await client.close()
