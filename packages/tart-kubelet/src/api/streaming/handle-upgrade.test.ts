import assert from 'node:assert/strict';
import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { HttpError } from '../http-response.ts';
import type { PodRuntime } from '../pod-runtime.ts';
import { createUpgradeHandler } from './handle-upgrade.ts';

const upgradeRequest = (socket: Socket, protocol: string): IncomingMessage =>
  Object.assign(new IncomingMessage(socket), {
    method: 'GET',
    url: '/exec/default/vm/vm?command=cat&output=1',
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      'sec-websocket-protocol': protocol,
    },
  });

test('a client that disconnects before the upgrade takes no session', async () => {
  const first = new Socket();
  const authorized = Promise.withResolvers<void>();
  const failed = Promise.withResolvers<unknown>();
  const handle = createUpgradeHandler({
    runtime: {} as PodRuntime,
    auth: {
      authorize: async ({ socket }) => {
        if (socket === first) {
          await once(socket.destroy(), 'close');
          authorized.resolve();
        }
        return { name: 'admin', groups: [] };
      },
    },
    clock: manualClock(),
    maxSessions: 1,
    maxMessageBytes: 1024,
    onError: failed.resolve,
    closeWhenIdle: () => {},
  });
  handle(upgradeRequest(first, 'v5.channel.k8s.io'), first, Buffer.alloc(0));
  await authorized.promise;
  const second = new Socket();
  handle(upgradeRequest(second, 'unknown'), second, Buffer.alloc(0));
  const error = await failed.promise;
  // 503 would mean that there is no session left.
  assert.equal(error instanceof HttpError && error.code, 400);
});
