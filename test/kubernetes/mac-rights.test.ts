import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  certificateSigningRequests,
  createInformer,
  createLogger,
  type Live,
  nodes,
  pods,
  secrets,
  serviceAccounts,
} from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { clientRequests, createApprover, type MachineIdentity, macRights } from '@tartan/provider';
import { askFor, attemptsOf } from './mac-rights/attempts.ts';
import { outcomeOf, twoMacs, type TwoMacs } from './mac-rights/harness.ts';

type Request = Live<NonNullable<(typeof certificateSigningRequests)['ofType']>>;

describe('the identity of one Mac on a real API server', () => {
  let harness: TwoMacs;
  let attempts: ReturnType<typeof attemptsOf>;
  before(async () => {
    harness = await twoMacs();
    const { mac, mine } = harness;
    const registers = mac.client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: mine } });
    assert.equal(await outcomeOf(registers), 'allowed', 'it makes its own Node');
    attempts = attemptsOf(harness, await harness.addPods());
    // The Node authorizer learns of Pods a moment after they are bound.
    const seen = async () => (await outcomeOf(mac.client.get(secrets, harness.here('mine')))) === 'allowed';
    await eventually('the Node may read the Secret of its Pod', seen);
  });
  after(() => harness.close());

  for (const right of Object.keys(macRights) as (keyof typeof macRights)[])
    test(`${right}: has the needed rights, and none on objects of others`, async () => {
      for (const [what, how] of attempts[right].may) assert.equal(await outcomeOf(how()), 'allowed', what);
      for (const [what, how] of attempts[right].mayNot) assert.equal(await outcomeOf(how()), 'forbidden', what);
    });

  test('refused attempts changed nothing', async () => {
    const { admin, theirs, here } = harness;
    const node = await admin.client.get(nodes, { name: theirs });
    assert.equal(node.spec?.unschedulable, undefined);
    assert.equal((await admin.client.get(pods, here('foreign'))).metadata.deletionTimestamp, undefined);
  });

  test('deletes its own Pod, and then loses the rights to the objects that it referenced', async () => {
    const { mac, here } = harness;
    assert.equal(await outcomeOf(mac.client.delete(pods, here('own'), { gracePeriodSeconds: 0 })), 'allowed');
    // No Pod of this Node refers to the Secret any more.
    const read = () => outcomeOf(mac.client.get(secrets, here('mine')));
    await eventually('the Secret is refused', async () => (await read()) !== 'allowed');
    assert.equal(await read(), 'forbidden');
  });
});

describe('the token of a Mac that joins, on a real API server', () => {
  let harness: TwoMacs;
  before(async () => {
    harness = await twoMacs();
  });
  after(() => harness.close());

  test('can request a certificate, and nothing else', async () => {
    const { joining, mine, here, provider } = harness;
    const { client, subresources } = joining;
    const may = () => outcomeOf(askFor(client, mine));
    // The API server knows a token a moment after its Secret exists.
    await eventually('the token is known', async () => (await may()) !== 'unauthorized');
    assert.equal(await may(), 'allowed');
    const refused: [string, () => Promise<unknown>][] = [
      ['make a Node', () => client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: mine } })],
      ['list Nodes', () => client.list(nodes)],
      ['list Pods', () => client.list(pods)],
      ['list Secrets', () => client.list(secrets)],
      ['read a Secret', () => client.get(secrets, here('ssh-keys', provider))],
      ['list ServiceAccounts', () => client.list(serviceAccounts)],
      ['get a token', () => subresources.createToken(here('robot'), {})],
      [
        'approve its own request',
        async () =>
          subresources.approveCertificate(await askFor(client, mine), { type: 'Approved', reason: 'A', message: 'A.' }),
      ],
    ];
    for (const [what, how] of refused) assert.equal(await outcomeOf(how()), 'forbidden', what);
  });

  test('gets the certificate of its own machine, and of no other', async (t) => {
    const { admin, joining, token, mine, theirs } = harness;
    const taken = `linux-${mine}`;
    const log = createLogger({ write: () => {}, clock, level: 'error' });
    const { client, subresources } = admin;
    const requests = createInformer({
      client,
      resource: certificateSigningRequests,
      ...clientRequests,
      clock,
      random: Math.random,
      log,
    });
    const held = { deleting: false, node: 'absent', serverID: 's' } as const;
    const { tokenID, expiresAt: tokenExpiresAt } = token;
    const machines = new Map<string, MachineIdentity>([
      [mine, { ...held, uid: 'u1', tokenID, tokenExpiresAt }],
      [theirs, { ...held, uid: 'u2' }],
      [taken, { ...held, uid: 'u3', node: 'foreign', tokenID, tokenExpiresAt }],
    ]);
    const approver = createApprover({
      subresources,
      machineOf: async (name) => machines.get(name),
      macAddressesOf: () => assert.fail('no serving certificate is requested'),
      requests: [requests],
      clock,
      log,
    });
    const stopping = new AbortController();
    const running = Promise.all([requests.run(stopping.signal), approver.run(stopping.signal)]);
    t.after(async () => {
      stopping.abort();
      await running;
    });
    const verdictOn = async (nodeName: string): Promise<string> => {
      const { name } = (await askFor(joining.client, nodeName)).metadata;
      return await eventually('there is a verdict', async () => {
        const { status }: Request = await client.get(certificateSigningRequests, { name });
        const [verdict] = status?.conditions ?? [];
        return verdict && `${verdict.type} ${verdict.reason}`;
      });
    };
    assert.equal(await verdictOn(mine), 'Approved MachineJoins');
    assert.equal(await verdictOn(theirs), 'Denied NotItsToken');
    assert.equal(await verdictOn(taken), 'Denied NodeNameTaken', 'a Node that is no Mac has the name of its machine');
  });
});
