import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { joinGroup, kubeletClientSigner, nodesGroup } from '../names.ts';
import {
  alternativeName,
  makeCSR,
  microsoftAlternativeName,
  subjectOf,
  type WantedRequest,
} from '../testing/make-csr.ts';
import { decide } from './decide.ts';
import type { MachineIdentity, RequestSnapshot } from './observe.ts';
import { parseRequest } from './parse-request.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const hour = 3_600_000;
const day = 24 * 3600;
const rsaKeys = generateKeyPairSync('rsa', { modulusLength: 2048 });

const joining = { deleting: false, node: 'absent', serverID: 'server', tokenExpiresAt: now + hour } as const;
const machineA: MachineIdentity = { ...joining, uid: 'a', tokenID: 'aaaaaa' };
const machineB: MachineIdentity = { ...joining, uid: 'b', tokenID: 'bbbbbb' };
/** It has joined, and its token is gone. */
const machineC: MachineIdentity = { uid: 'c', deleting: false, node: 'ours', serverID: 'server' };
const machines = new Map([
  ['mac-1', machineA],
  ['mac-2', machineB],
  ['mac-3', machineC],
]);

const withToken = (id: string): Partial<RequestSnapshot> => ({
  username: `system:bootstrap:${id}`,
  groups: ['system:bootstrappers', joinGroup, 'system:authenticated'],
});
const asNode = (name: string): Partial<RequestSnapshot> => ({
  username: `system:node:${name}`,
  groups: [nodesGroup, 'system:authenticated'],
});
const asking = (wanted: WantedRequest): Partial<RequestSnapshot> => ({ reading: parseRequest(makeCSR(wanted)) });
const forNode = (name: string): Partial<RequestSnapshot> => asking({ subject: subjectOf(name) });
const with1 = (change: Partial<MachineIdentity>): Partial<RequestSnapshot> => ({
  machines: new Map([...machines, ['mac-1', { ...machineA, ...change }]]),
});

/** A valid first request of mac-1. */
const validRequest: RequestSnapshot = {
  now,
  signerName: kubeletClientSigner,
  username: '',
  groups: [],
  usages: ['client auth', 'digital signature'],
  expirationSeconds: 7 * day,
  decided: false,
  reading: parseRequest(makeCSR({})),
  machines,
  createdAt: now,
  macAddresses: undefined,
  ...withToken('aaaaaa'),
};

type Row = readonly [what: string, change: Partial<RequestSnapshot>, decision: string];

const cn = (text: string): readonly ['CN', string] => ['CN', text];
const o = (text: string): readonly ['O', string] => ['O', text];

const rows: readonly Row[] = [
  ['the token of a machine asks for its Node', {}, 'approve MachineJoins'],
  ['with the usages in another order', { usages: ['digital signature', 'client auth'] }, 'approve MachineJoins'],
  [
    'with the subject in another order',
    asking({ subject: [[cn('system:node:mac-1')], [o('system:nodes')]] }),
    'approve MachineJoins',
  ],
  ['for less time than allowed', { expirationSeconds: day }, 'approve MachineJoins'],
  ['with an RSA key', asking({ keys: rsaKeys }), 'approve MachineJoins'],
  [
    'with an RSA key that enciphers keys',
    { ...asking({ keys: rsaKeys }), usages: ['client auth', 'digital signature', 'key encipherment'] },
    'approve MachineJoins',
  ],
  ['a token without a recorded expiry', with1({ tokenExpiresAt: undefined }), 'approve MachineJoins'],
  ['a token whose Node is there already', with1({ node: 'ours' }), 'approve MachineJoins'],
  ['a Node renews itself', { ...asNode('mac-3'), ...forNode('mac-3') }, 'approve NodeRenewsItself'],
  ['a Node renews itself while its token is still there', { ...asNode('mac-1') }, 'approve NodeRenewsItself'],
  [
    'a Node renews itself that was deleted, and is registered anew',
    { ...asNode('mac-1'), ...with1({ node: 'absent', tokenID: undefined }) },
    'approve NodeRenewsItself',
  ],

  ["the token of a machine whose name another's Node has", with1({ node: 'foreign' }), 'deny NodeNameTaken'],
  ['the same while the machine is being deleted', with1({ node: 'foreign', deleting: true }), 'deny NodeNameTaken'],
  ['a Mac asks for a Node that is no Mac', { ...asNode('mac-3'), ...with1({ node: 'foreign' }) }, 'deny NodeNameTaken'],

  ['the token of machine A asks for Node B', forNode('mac-2'), 'deny NotItsToken'],
  ['the token of machine A asks for a Node that has joined', forNode('mac-3'), 'deny NotItsToken'],
  ['an older token of the same machine', withToken('oldold'), 'deny NotItsToken'],
  ['a retired token', with1({ tokenID: undefined }), 'deny NotItsToken'],
  ['a token that has expired since', with1({ tokenExpiresAt: now - 1 }), 'deny TokenExpired'],
  ['a token that expires now', with1({ tokenExpiresAt: now }), 'deny TokenExpired'],
  ['a token whose end cannot be read', with1({ tokenExpiresAt: Number.NaN }), 'deny TokenExpired'],
  ['a machine that is being deleted', with1({ deleting: true }), 'deny MachineIsBeingDeleted'],
  ['a token for a Linux node', forNode('worker-1'), 'deny NoSuchMachine'],
  ['a token for a machine that is gone', { machines: new Map() }, 'deny NoSuchMachine'],
  [
    'an organisation more, in one part of the name',
    asking({ subject: [[o('system:nodes'), o('system:masters')], [cn('system:node:mac-1')]] }),
    'deny WrongSubject',
  ],
  [
    'an organisation more, in a part of its own',
    asking({ subject: [...subjectOf('mac-1'), [o('system:masters')]] }),
    'deny WrongSubject',
  ],
  [
    'the same organisation twice',
    asking({ subject: [...subjectOf('mac-1'), [o('system:nodes')]] }),
    'deny WrongSubject',
  ],
  [
    'another organisation',
    asking({ subject: [[o('system:masters')], [cn('system:node:mac-1')]] }),
    'deny WrongSubject',
  ],
  ['no organisation', asking({ subject: [[cn('system:node:mac-1')]] }), 'deny WrongSubject'],
  ['a unit of the organisation', asking({ subject: [...subjectOf('mac-1'), [['OU', 'x']]] }), 'deny WrongSubject'],
  [
    'two common names, its own last',
    asking({ subject: [[cn('system:node:mac-2')], ...subjectOf('mac-1')] }),
    'deny WrongSubject',
  ],
  [
    'two common names, its own first',
    asking({ subject: [...subjectOf('mac-1'), [cn('system:node:mac-2')]] }),
    'deny WrongSubject',
  ],
  ['a common name that is no Node', asking({ subject: [[o('system:nodes')], [cn('admin')]] }), 'deny WrongSubject'],
  [
    'a name with a line break behind it',
    asking({ subject: [[o('system:nodes')], [cn('system:node:mac-1\n')]], textTag: 0x0c }),
    'deny WrongSubject',
  ],
  ['a name in capitals', asking({ subject: [[o('system:nodes')], [cn('system:node:MAC-1')]] }), 'deny WrongSubject'],
  ['no subject', asking({ subject: [] }), 'deny WrongSubject'],
  ['an alternative name', asking({ attributes: [alternativeName('kubernetes.default')] }), 'deny ExtensionsAsked'],
  [
    "an alternative name in Microsoft's attribute",
    asking({ attributes: [microsoftAlternativeName('x')] }),
    'deny ExtensionsAsked',
  ],
  ['a certificate for a server', { usages: ['server auth', 'digital signature'] }, 'deny WrongUsages'],
  [
    'a certificate for a server too',
    { usages: ['client auth', 'digital signature', 'server auth'] },
    'deny WrongUsages',
  ],
  ['no signatures', { usages: ['client auth'] }, 'deny WrongUsages'],
  ['no usages', { usages: [] }, 'deny WrongUsages'],
  ['a certificate authority', { usages: ['client auth', 'digital signature', 'cert sign'] }, 'deny WrongUsages'],
  [
    'key encipherment without an RSA key',
    { usages: ['client auth', 'digital signature', 'key encipherment'] },
    'deny WrongUsages',
  ],
  ['a second more than seven days', { expirationSeconds: 7 * day + 1 }, 'deny LifetimeTooLong'],
  ['a year, by saying nothing', { expirationSeconds: undefined }, 'deny LifetimeTooLong'],
  ['a request that cannot be read', { reading: parseRequest('AAAA') }, 'deny MalformedRequest'],
  ['a user of the group without a token', { username: 'eve' }, 'deny NotItsToken'],
  ['a renewal for another Node', { ...asNode('mac-3'), ...forNode('mac-1') }, 'deny NotItself'],
  ['a renewal for a Linux node', { ...asNode('mac-3'), ...forNode('worker-1') }, 'deny NoSuchMachine'],
  ['a Linux node asks for ours', { ...asNode('worker-1') }, 'deny NotItself'],
  [
    'a renewal with more organisations',
    { ...asNode('mac-1'), ...asking({ subject: [...subjectOf('mac-1'), [o('x')]] }) },
    'deny WrongSubject',
  ],
  ['a renewal for a server', { ...asNode('mac-1'), usages: ['server auth', 'digital signature'] }, 'deny WrongUsages'],
  ['a renewal for a year', { ...asNode('mac-1'), expirationSeconds: 365 * day }, 'deny LifetimeTooLong'],
  [
    'a renewal while the machine is being deleted',
    { ...asNode('mac-1'), ...with1({ deleting: true }) },
    'deny MachineIsBeingDeleted',
  ],
  ["a Node's name without the Nodes' group", { username: 'system:node:mac-1', groups: [] }, 'deny NotItsToken'],
  [
    "a token of kubeadm asks for a machine's Node",
    { groups: ['system:bootstrappers', 'system:bootstrappers:kubeadm:default-node-token'] },
    'deny NotItsToken',
  ],
  [
    'an administrator asks in the name of a machine',
    { username: 'admin', groups: ['system:masters'] },
    'deny NotItsToken',
  ],

  ['another signer', { signerName: 'kubernetes.io/kube-apiserver-client' }, 'skip OtherSigner'],
  ['no signer', { signerName: '' }, 'skip OtherSigner'],
  ['one that has a verdict', { decided: true }, 'skip AlreadyDecided'],
  ['a Linux node renews itself', { ...asNode('worker-1'), ...forNode('worker-1') }, 'skip NotOurs'],
  [
    'a Linux node joins',
    { username: 'system:bootstrap:kubead', groups: ['system:bootstrappers'], ...forNode('worker-1') },
    'skip NotOurs',
  ],
  [
    'a Linux node renews itself, and a machine has its name',
    { ...asNode('mac-1'), ...with1({ node: 'foreign' }) },
    'skip NotOurs',
  ],
  [
    'the same for a year, as kubelets ask',
    { ...asNode('mac-1'), ...with1({ node: 'foreign' }), expirationSeconds: undefined },
    'skip NotOurs',
  ],
  [
    'a Linux node joins anew, and a machine has its name',
    {
      username: 'system:bootstrap:kubead',
      groups: ['system:bootstrappers', 'system:bootstrappers:kubeadm:default-node-token'],
      ...with1({ node: 'foreign' }),
    },
    'skip NotOurs',
  ],
  [
    'a Linux node joins under the name of a machine that has no Mac',
    {
      username: 'system:bootstrap:kubead',
      groups: ['system:bootstrappers'],
      ...with1({ node: 'absent', serverID: undefined }),
    },
    'skip NotOurs',
  ],
  ['a Mac renews whose machine is gone', { ...asNode('mac-9'), ...forNode('mac-9') }, 'skip NotOurs'],
  [
    'a stranger whose request cannot be read',
    { username: 'eve', groups: [], reading: parseRequest('AAAA') },
    'skip NotOurs',
  ],
];

const short = (snapshot: RequestSnapshot): string => {
  const decision = decide(snapshot);
  return `${decision.kind} ${'why' in decision ? decision.why : decision.reason}`;
};

describe('decide, for a client certificate request', () => {
  for (const [what, change, decision] of rows)
    test(`${decision}: ${what}`, () => assert.equal(short({ ...validRequest, ...change }), decision));
});

describe('the decision on a client certificate request', () => {
  const names = ['mac-1', 'mac-2', 'worker-1', '', 'x\n'];
  const name = fc.constantFrom(...names);
  const part = fc.tuple(
    fc.constantFrom('CN', 'O', 'OU'),
    fc.oneof(
      fc.string(),
      name.map((n) => `system:node:${n}`),
      fc.constant(nodesGroup),
    ),
  );
  const machine: fc.Arbitrary<MachineIdentity> = fc.record({
    uid: fc.string(),
    deleting: fc.boolean(),
    node: fc.constantFrom('absent', 'ours', 'foreign'),
    serverID: fc.option(fc.constant('server'), { nil: undefined }),
    tokenID: fc.option(fc.constantFrom('aaaaaa', 'bbbbbb'), { nil: undefined }),
    tokenExpiresAt: fc.option(fc.double(), { nil: undefined }),
  });
  /** Any request, mostly close to a valid one: pure noise would hardly ever come near an approval. */
  const fields = {
    now: fc.double(),
    signerName: fc.oneof({ weight: 9, arbitrary: fc.constant(kubeletClientSigner) }, fc.string()),
    username: fc.oneof(
      fc.string(),
      name.map((n) => `system:node:${n}`),
      fc.constantFrom('aaaaaa', 'bbbbbb', 'x').map((id) => `system:bootstrap:${id}`),
    ),
    groups: fc.subarray([joinGroup, nodesGroup, 'system:masters']),
    usages: fc.subarray(['client auth', 'digital signature', 'key encipherment', 'server auth']),
    expirationSeconds: fc.option(fc.oneof(fc.constant(600), fc.double()), { nil: undefined }),
    decided: fc.boolean(),
    reading: fc.oneof(
      name.map((n) => parseRequest(makeCSR({ subject: subjectOf(n) }))),
      fc.array(part).map((parts) => parseRequest(makeCSR({ subject: parts.map((each) => [each]) }))),
      fc.string().map(parseRequest),
    ),
    machines: fc.uniqueArray(fc.tuple(name, machine), { selector: ([n]) => n }).map((list) => new Map(list)),
  };
  const snapshot: fc.Arbitrary<RequestSnapshot> = fc.oneof(
    fc.record(fields).map((all): RequestSnapshot => ({ ...validRequest, ...all })),
    fc.record(fields, { requiredKeys: [] }).map((change): RequestSnapshot => ({ ...validRequest, ...change })),
    fc.tuple(fc.record(fields), fc.subarray(Object.keys(fields), { maxLength: 3 })).map(
      ([noise, keys]): RequestSnapshot => ({
        ...validRequest,
        ...Object.fromEntries(Object.entries(noise).filter(([key]) => keys.includes(key))),
      }),
    ),
  );

  test('is total, and approves only the machine itself', () => {
    fc.assert(
      fc.property(snapshot, (each) => {
        const decision = decide(each);
        if (decision.kind !== 'approve') return ['skip', 'deny'].includes(decision.kind);
        const known = each.machines.get(decision.nodeName);
        const byToken = known?.tokenID !== undefined && each.username === `system:bootstrap:${known.tokenID}`;
        const byItself = each.username === `system:node:${decision.nodeName}`;
        const subject = each.reading.ok ? each.reading.requested.subject.map(({ text }) => text).sort() : [];
        assert.deepEqual(subject, [`system:node:${decision.nodeName}`, nodesGroup].sort());
        assert.notEqual(known?.node, 'foreign');
        return known?.deleting === false && (byToken || byItself) && !each.usages.includes('server auth');
      }),
      { numRuns: 2000, examples: [[validRequest], [{ ...validRequest, ...asNode('mac-1') }]] },
    );
  });

  test('never quotes the request', () => {
    const planted = 'aaaaaa.0123456789abcdef';
    for (const change of [
      forNode(planted),
      asking({ subject: [[cn(planted)]] }),
      { username: planted },
      { signerName: planted },
    ])
      assert.ok(!JSON.stringify(decide({ ...validRequest, ...change })).includes('0123456789abcdef'));
  });
});
