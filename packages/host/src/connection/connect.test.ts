import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import ssh2 from 'ssh2';
import { fleetKey } from '../testing/connect-to-mac.ts';
import { connect, type ConnectOptions } from './connect.ts';
import type { ConnectOutcome, HostConnection } from './connection.ts';
import { startServer, type TestServer } from './testing/ssh-server.ts';

describe('connecting to a host', () => {
  let server: TestServer;
  let other: TestServer;
  before(async () => {
    server = await startServer();
    other = await startServer();
  });
  after(async () => {
    await server.stop();
    await other.stop();
  });
  beforeEach(() => {
    for (const one of [server, other]) {
      one.greeting = 'normal';
      one.login = 'by key';
      one.seen.connections = 0;
      one.seen.logins = 0;
    }
  });

  const options = (more: Partial<ConnectOptions> = {}): ConnectOptions => ({
    addresses: [server.address],
    user: 'm1',
    privateKey: server.privateKey,
    ...more,
  });
  const connected = (outcome: ConnectOutcome): HostConnection => {
    assert(outcome.kind === 'connected', outcome.kind);
    return outcome.connection;
  };
  /** An address without a listener. */
  const nobody = async () => {
    const gone = await startServer();
    await gone.stop();
    return gone.address;
  };

  test('without a pin, the host key is accepted and reported', async () => {
    const outcome = await connect(options());
    const connection = connected(outcome);
    assert.equal(connection.hostKey, server.hostKey);
    assert.equal(connection.address, server.address);
    assert.equal(outcome.kind === 'connected' && outcome.hostKey, server.hostKey);
    await connection.close();
  });

  test('the pinned host key is accepted', async () => {
    await connected(await connect(options({ pinnedHostKey: server.hostKey }))).close();
  });

  test('another host key than the pinned one is reported, and nothing is sent', async () => {
    const outcome = await connect(
      options({ pinnedHostKey: 'SHA256:another', addresses: [server.address, other.address] }),
    );
    const { hostKey, address } = server;
    assert.deepEqual(outcome, { kind: 'host key changed', expected: 'SHA256:another', hostKey, address });
    assert.equal(server.seen.logins, 0);
    assert.equal(other.seen.connections, 0, 'no other address is tried');
  });

  test('a rejected SSH key is distinguished from an unreachable host', async () => {
    server.login = 'refused';
    const outcome = await connect(options({ addresses: [server.address, other.address] }));
    const { hostKey, address } = server;
    assert.deepEqual(outcome, { kind: 'authentication refused', user: 'm1', hostKey, address });
    assert.equal(server.seen.logins, 1, 'a host counts attempts');
    assert.equal(other.seen.connections, 0, 'no other address is tried');
  });

  test('the next address is tried when the previous one did not connect (INC-13)', async () => {
    const addresses = [await nobody(), { ...server.address, transport: 'tailnet' as const }];
    const connection = connected(await connect(options({ addresses })));
    assert.equal(connection.address.transport, 'tailnet');
    await connection.close();
  });

  test('a host that closes the connection before its banner did not connect', async () => {
    server.greeting = 'hangs up';
    const outcome = await connect(options());
    assert.equal(outcome.kind, 'never connected');
  });

  test('when no address answers, each is listed with its cause', async () => {
    const [first, second] = [await nobody(), await nobody()];
    const outcome = await connect(options({ addresses: [first, second] }));
    assert(outcome.kind === 'never connected');
    assert.deepEqual(
      outcome.attempts.map(({ address }) => address),
      [first, second],
    );
    for (const { cause } of outcome.attempts) assert.match(cause, /ECONNREFUSED/);
  });

  test("a silent listener is 'never connected' after the deadline", async () => {
    server.greeting = 'silent';
    const clock = manualClock();
    const came = server.connected();
    const outcome = connect(options({ clock }));
    const socket = await came;
    clock.advance(19_999);
    clock.advance(1);
    const { kind, ...rest } = await outcome;
    assert.equal(kind, 'never connected');
    assert.match(JSON.stringify(rest), /no TCP connection within 15 s|no SSH server answered within 20 s/);
    if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  });

  test('an address that does not accept a connection is given up before the overall deadline', async () => {
    const clock = manualClock();
    const outcome = connect(options({ clock }));
    clock.advance(15_000);
    assert.match(JSON.stringify(await outcome), /never connected.*no TCP connection within 15 s/);
  });

  test('a host that shows its key and does not answer the login failed in the handshake', async () => {
    server.login = 'silent';
    const clock = manualClock();
    const outcome = connect(options({ clock, addresses: [server.address, other.address] }));
    while (server.seen.logins === 0) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(20_000);
    const { hostKey, address } = server;
    assert.deepEqual(await outcome, { kind: 'handshake failed', cause: 'no login within 20 s', hostKey, address });
    assert.equal(other.seen.connections, 0, 'no other address is tried');
  });

  test('an IPv6 address works', async (context) => {
    const six = await startServer({ host: '::1' }).catch(() => undefined);
    if (!six) return context.skip('this machine has no IPv6');
    try {
      await connected(await connect(options({ addresses: [six.address], privateKey: six.privateKey }))).close();
    } finally {
      await six.stop();
    }
  });

  test('an abort ends connecting', async () => {
    server.greeting = 'silent';
    const came = server.connected();
    const controller = new AbortController();
    const outcome = connect(options({ signal: controller.signal }));
    const socket = await came;
    controller.abort(new Error('shutting down'));
    await assert.rejects(outcome, /shutting down/);
    if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
    await assert.rejects(connect(options({ signal: controller.signal })), /shutting down/);
  });

  test('an unusable private key is an error with the reason, before any connection', async () => {
    const secret = 'c2VjcmV0LWtleS1tYXRlcmlhbA';
    const encrypted = ssh2.utils.generateKeyPairSync('ed25519', { passphrase: 'x', cipher: 'aes256-cbc', rounds: 1 });
    const table: [key: string, why: RegExp][] = [
      ['', /no private key/],
      [secret, /no private key/],
      [`-----BEGIN OPENSSH PRIVATE KEY-----\n${secret}\n-----END OPENSSH PRIVATE KEY-----\n`, /no private key/],
      [encrypted.private, /encrypted/],
      [fleetKey().publicKey, /public key/],
    ];
    for (const [privateKey, why] of table) {
      await assert.rejects(connect(options({ privateKey })), (error: Error) => {
        assert.equal(error.name, 'PrivateKeyError');
        assert.match(error.message, why);
        assert.doesNotMatch(error.message, new RegExp(secret));
        return true;
      });
    }
    assert.equal(server.seen.connections, 0);
  });
});
