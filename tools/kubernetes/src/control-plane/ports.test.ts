import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { freePorts } from './ports.ts';

test('free ports are all different, and can be bound', async () => {
  const ports = await freePorts(20);
  assert.equal(new Set(ports).size, 20);
  for (const port of ports.slice(0, 3)) {
    const server = createServer();
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
    await new Promise((closed) => server.close(closed));
  }
});
