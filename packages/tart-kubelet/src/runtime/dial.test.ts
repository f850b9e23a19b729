import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { dialGuest, localAddressFor } from './dial.ts';

const at = (address: string, netmask: string, family: 'IPv4' | 'IPv6' = 'IPv4') => ({
  address,
  netmask,
  family,
  mac: '00:00:00:00:00:00',
  internal: false,
  cidr: null,
  ...(family === 'IPv6' ? { scopeid: 0 } : {}),
});

describe('a connection to a guest', () => {
  test("binds to the local address in the guest's subnet, if there is one", () => {
    const interfaces = {
      en0: [at('192.168.1.20', '255.255.255.0')],
      utun4: [at('100.64.0.7', '255.255.255.255')],
      bridge100: [at('fd00::1', 'ffff:ffff:ffff:ffff::', 'IPv6'), at('192.168.64.1', '255.255.255.0')],
    } as Parameters<typeof localAddressFor>[1];
    assert.equal(localAddressFor('192.168.64.9', interfaces), '192.168.64.1');
    assert.equal(localAddressFor('192.168.1.3', interfaces), '192.168.1.20');
    assert.equal(localAddressFor('192.168.65.9', interfaces), undefined);
    assert.equal(localAddressFor('100.64.0.7', interfaces), undefined);
    assert.equal(localAddressFor('192.168.64.9', {}), undefined);
  });

  test('times out, or ends with its client', async () => {
    const clock = manualClock();
    const sockets: Socket[] = [];
    const open = (): Socket => {
      const socket = new Socket();
      sockets.push(socket);
      return socket;
    };
    const client = new AbortController();
    const dial = { address: '127.0.0.1', port: 80, clock, signal: client.signal, open };
    const late = assert.rejects(dialGuest(dial), /no answer within 10 s/);
    clock.advance(10_000);
    await late;
    const left = assert.rejects(dialGuest(dial), /the client is gone/);
    client.abort();
    await left;
    assert.deepEqual(
      sockets.map(({ destroyed }) => destroyed),
      [true, true],
    );
  });
});
