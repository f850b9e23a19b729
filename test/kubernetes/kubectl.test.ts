import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { runScript } from './kubectl/run-script.ts';
import { scripts } from './kubectl/scripts/index.ts';
import { type Servers, startServers } from './kubectl/servers.ts';

describe('kubectl sees no difference between the embedded server and the real one', () => {
  let servers: Servers | undefined;

  before(async () => {
    servers = await startServers();
  });
  after(() => servers?.stop());

  for (const script of scripts) {
    test(script.title, async (t) => {
      if (servers === undefined) throw new Error('the servers were not started');
      const [real, embedded] = await Promise.all([
        runScript(script, servers.real),
        runScript(script, servers.embedded),
      ]);
      for (const [index, expected] of real.entries()) {
        await t.test(expected.command, () => assert.deepEqual(embedded[index], expected));
      }
    });
  }
});
