import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test, type TestContext } from 'node:test';
import { inspect } from 'node:util';
import {
  type Client,
  createClient,
  inProcessTransport,
  isKubeError,
  KubeError,
  secrets,
  type Transport,
} from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { createKubernetes } from '@tartan/sim-kubernetes';
import fc from 'fast-check';
import { deleteJoinToken, generateToken, mintJoinToken, type MintOptions, type TokenRecord } from './join-token.ts';
import { tokenSecretName } from './names.ts';

const machine = { namespace: 'macs', name: 'mac-1', uid: 'uid-1' };
const hour = 3_600_000;

const setUp = async (t: TestContext, between: (transport: Transport) => Transport = (transport) => transport) => {
  const clock = manualClock();
  const kubernetes = await createKubernetes({ clock });
  t.after(() => kubernetes.stop());
  const direct = inProcessTransport(kubernetes.handle, {
    user: { commonName: 'admin', organizations: ['system:masters'] },
  });
  const client = createClient(between(direct), { clock });
  const server = createClient(direct, { clock });
  const records: TokenRecord[] = [];
  const options: MintOptions = {
    machine,
    clock,
    random: randomBytes,
    lifetimeMs: hour,
    record: async (record) => void records.push(record),
  };
  const tokens = async (): Promise<string[]> =>
    (await server.list(secrets, { namespace: 'kube-system' })).items
      .filter(({ type }) => type === 'bootstrap.kubernetes.io/token')
      .map(({ metadata }) => metadata.name);
  return { clock, client, server, options, records, tokens };
};

const failing =
  (method: string, fail: (passOn: () => Promise<unknown>) => Promise<never>) => (transport: Transport) => ({
    ...transport,
    send: (request: Parameters<Transport['send']>[0]) =>
      request.method === method ? fail(() => transport.send(request)) : transport.send(request),
  });

const text = (secret: { data?: Record<string, string> }, key: string): string =>
  Buffer.from(secret.data?.[key] ?? '', 'base64').toString();

describe('a join token', () => {
  test('is a bootstrap token Secret of Kubernetes that names its machine', async (t) => {
    const { client, server, clock, options } = await setUp(t);
    const token = await mintJoinToken(client, options);
    const name = { namespace: 'kube-system', name: tokenSecretName(token.tokenID) };
    const secret = await server.get(secrets, name);
    assert.match(token.reveal(), /^[a-z0-9]{6}\.[a-z0-9]{16}$/);
    assert.equal(secret.type, 'bootstrap.kubernetes.io/token');
    assert.equal(`${text(secret, 'token-id')}.${text(secret, 'token-secret')}`, token.reveal());
    assert.equal(text(secret, 'auth-extra-groups'), 'system:bootstrappers:tartan');
    assert.equal(text(secret, 'usage-bootstrap-authentication'), 'true');
    assert.equal(text(secret, 'usage-bootstrap-signing'), '');
    assert.equal(Date.parse(text(secret, 'expiration')), clock.now() + hour);
    assert.match(text(secret, 'description'), /macs\/mac-1 \(uid-1\)/);
  });

  test('is removed by the cluster when it has expired', async (t) => {
    const { client, clock, options, tokens } = await setUp(t);
    await mintJoinToken(client, options);
    clock.advance(hour + 1000);
    assert.deepEqual(await tokens(), []);
  });

  test('replaces the previous token', async (t) => {
    const { client, options, records, tokens } = await setUp(t);
    const first = await mintJoinToken(client, options);
    const second = await mintJoinToken(client, { ...options, recorded: first.tokenID });
    assert.deepEqual(await tokens(), [tokenSecretName(second.tokenID)]);
    assert.deepEqual(
      records.map(({ tokenID }) => tokenID),
      [first.tokenID, second.tokenID],
    );
  });

  test('is not created when its id cannot be recorded', async (t) => {
    const { client, options, tokens } = await setUp(t);
    const record = () => Promise.reject(new KubeError('conflict', 'somebody else was faster'));
    await assert.rejects(mintJoinToken(client, { ...options, record }), (error) => isKubeError(error, 'conflict'));
    assert.deepEqual(await tokens(), []);
  });

  test('is found again after a crash at any point', async (t) => {
    const { client, options, records, tokens } = await setUp(t);
    const crash = new Error('the process ends here');
    // After the id was recorded, before the Secret was created.
    const recordAndDie = async (record: TokenRecord) => {
      records.push(record);
      throw crash;
    };
    await assert.rejects(mintJoinToken(client, { ...options, record: recordAndDie }), crash);
    // After the Secret was created: the token itself is lost with the process.
    await mintJoinToken(client, { ...options, recorded: records.at(-1)?.tokenID });
    // After the old one was deleted, before the new id was recorded.
    const recorded = records.at(-1)?.tokenID;
    const die = () => Promise.reject(crash);
    await assert.rejects(mintJoinToken(client, { ...options, recorded, record: die }), crash);
    const last = await mintJoinToken(client, { ...options, recorded });
    assert.deepEqual(await tokens(), [tokenSecretName(last.tokenID)]);
  });

  test('whose creation was lost is deleted by the next', async (t) => {
    let lost = false;
    const { client, options, records, tokens } = await setUp(
      t,
      failing('POST', async (passOn) => {
        const answer = await passOn();
        if (lost) return answer as never;
        lost = true;
        throw new KubeError('unreachable', 'the connection broke');
      }),
    );
    await assert.rejects(mintJoinToken(client, options), (error) => isKubeError(error, 'unreachable'));
    assert.equal((await tokens()).length, 1);
    const token = await mintJoinToken(client, { ...options, recorded: records[0]?.tokenID });
    assert.deepEqual(await tokens(), [tokenSecretName(token.tokenID)]);
  });

  test('does not overwrite a token with the same id, and takes another id', async (t) => {
    const { client, server, options, records, tokens } = await setUp(t);
    const metadata = { namespace: 'kube-system', name: tokenSecretName('aaaaaa') };
    const type = 'bootstrap.kubernetes.io/token';
    await server.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, type });
    let draws = 0;
    // Six zeros are the id `aaaaaa`; the third draw is the next id.
    const random = (count: number): Uint8Array => new Uint8Array(count).fill(draws++ < 2 ? 0 : 1);
    const token = await mintJoinToken(client, { ...options, random });
    assert.equal(token.tokenID, 'bbbbbb');
    assert.deepEqual(
      records.map(({ tokenID }) => tokenID),
      ['aaaaaa', 'bbbbbb'],
    );
    assert.deepEqual((await tokens()).sort(), ['bootstrap-token-aaaaaa', 'bootstrap-token-bbbbbb']);
    const stuck = mintJoinToken(client, { ...options, random: (count) => new Uint8Array(count) });
    await assert.rejects(stuck, (error) => isKubeError(error, 'alreadyExists'));
  });

  test('is deleted by its id, idempotently, and no other is', async (t) => {
    const { client, options, tokens } = await setUp(t);
    const { tokenID } = await mintJoinToken(client, options);
    for (const id of ['', 'x', '../evil', 'AAAAAA', `${tokenID}x`]) await deleteJoinToken(client, id);
    assert.deepEqual(await tokens(), [tokenSecretName(tokenID)]);
    await deleteJoinToken(client, tokenID);
    await deleteJoinToken(client, tokenID);
    assert.deepEqual(await tokens(), []);
  });

  test('is not forgotten when its deletion is refused', async (t) => {
    const refuse = failing('DELETE', () => Promise.reject(new KubeError('forbidden', 'no')));
    const { client, options, records } = await setUp(t, refuse);
    await assert.rejects(mintJoinToken(client, { ...options, recorded: 'aaaaaa' }), (error) =>
      isKubeError(error, 'forbidden'),
    );
    assert.deepEqual(records, []);
  });
});

describe('the secret half of a token', () => {
  const zeros = (count: number): Uint8Array => new Uint8Array(count);
  const planted = 'aaaaaaaaaaaaaaaa';

  test('is in no error, even if the server echoes the request', async () => {
    const echo = `bad Secret: ${JSON.stringify({ 'token-secret': planted })} aaaaaa.${planted}`;
    const causes = [{ field: 'stringData', message: echo }];
    const cause = new Error(echo);
    const errors = [new KubeError('invalid', echo, { code: 422, causes, cause, retryAfterMs: 5 }), new TypeError(echo)];
    for (const error of errors) {
      const client = { create: () => Promise.reject(error) } as unknown as Client;
      const minted = mintJoinToken(client, {
        machine,
        record: async () => {},
        clock: manualClock(),
        random: zeros,
        lifetimeMs: hour,
      });
      const thrown: unknown = await minted.catch((problem: unknown) => problem);
      assert.ok(thrown instanceof Error);
      assert.ok(!inspect(thrown, { depth: 9, showHidden: true }).includes(planted));
      if (isKubeError(error))
        assert.ok(isKubeError(thrown, 'invalid') && thrown.code === 422 && thrown.retryAfterMs === 5);
    }
  });

  test('is redacted in a printed token', () => {
    const token = generateToken(zeros, 0);
    const prints = [
      inspect(token, { depth: 9, showHidden: true }),
      JSON.stringify({ token }),
      JSON.stringify({ ...token }),
    ];
    for (const print of prints) assert.ok(!print.includes(planted) && print.includes('aaaaaa'));
    assert.equal(token.reveal(), `aaaaaa.${planted}`);
  });

  test('is uniformly distributed over the alphabet for any random bytes', () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat(255)), (bytes) => {
        const random = (count: number): Uint8Array =>
          Uint8Array.from({ length: count }, () => bytes.next().value as number);
        return /^[a-z0-9]{6}\.[a-z0-9]{16}$/.test(generateToken(random, 0).reveal());
      }),
    );
    // Bytes from 252 on are skipped: with them `a` to `d` would come more often.
    let next = 252;
    const counting = (count: number): Uint8Array => Uint8Array.from({ length: count }, () => next++ % 256);
    assert.equal(generateToken(counting, 0).reveal(), 'abcdef.ghijklmnopqrstuv');
  });
});
