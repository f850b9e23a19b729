import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { joinGroup, kubeletServingSigner, nodesGroup } from '../names.ts';
import {
  alternativeNames,
  generalName,
  keyUsageExtension,
  makeCSR,
  microsoftAlternativeName,
  subjectOf,
  type WantedRequest,
} from '../testing/make-csr.ts';
import { decide } from './decide.ts';
import type { MacAddresses, MachineIdentity, RequestSnapshot } from './observe.ts';
import { parseAlternativeNames, parseRequest } from './parse-request.ts';

const { ip, dns, mail, uri } = generalName;
const now = Date.parse('2026-01-01T00:00:00Z');
const minute = 60_000;
const day = 24 * 3600;
const rsaKeys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const machineA: MachineIdentity = { uid: 'a', deleting: false, node: 'ours', serverID: 'server-a' };
const machines = new Map<string, MachineIdentity>([
  ['mac-1', machineA],
  ['mac-2', { uid: 'b', deleting: false, node: 'ours', serverID: 'server-b' }],
]);
const with1 = (change: Partial<MachineIdentity>): Partial<RequestSnapshot> => ({
  machines: new Map([...machines, ['mac-1', { ...machineA, ...change }]]),
});

const asking = (wanted: WantedRequest): Partial<RequestSnapshot> => ({ reading: parseRequest(makeCSR(wanted)) });
const named = (...names: readonly Uint8Array[]): Partial<RequestSnapshot> =>
  asking({ attributes: [alternativeNames(...names)] });
const asNode = (name: string): Partial<RequestSnapshot> => ({
  username: `system:node:${name}`,
  groups: [nodesGroup, 'system:authenticated'],
});

/** mac-1 by Scaleway and its Node; mac-2 is 192.0.2.8 and 100.64.0.8. */
const atHome: MacAddresses = {
  providerAddresses: ['192.0.2.7'],
  node: { kind: 'ours', internalAddresses: ['100.64.0.7', '10.0.0.7'] },
  tailnet: true,
  otherNodeAddresses: new Set(['192.0.2.8', '100.64.0.8']),
};
const at = (change: Partial<MacAddresses>): Partial<RequestSnapshot> => ({ macAddresses: { ...atHome, ...change } });

/** A valid request of mac-1 for its own address. */
const validRequest: RequestSnapshot = {
  now,
  createdAt: now - 1000,
  signerName: kubeletServingSigner,
  username: 'system:node:mac-1',
  groups: [nodesGroup, 'system:authenticated'],
  usages: ['digital signature', 'server auth'],
  expirationSeconds: 7 * day,
  decided: false,
  reading: parseRequest(makeCSR({})),
  machines,
  macAddresses: atHome,
  ...named(ip(192, 0, 2, 7)),
};

type Row = readonly [what: string, change: Partial<RequestSnapshot>, decision: string];
const old = { createdAt: now - 6 * minute };
const cn = (text: string): readonly ['CN', string] => ['CN', text];
const o = (text: string): readonly ['O', string] => ['O', text];
const ownAddress = [alternativeNames(ip(192, 0, 2, 7))];
const withSubject = (subject: WantedRequest['subject']): Partial<RequestSnapshot> =>
  asking({ ...(subject && { subject }), attributes: ownAddress });

const rows: readonly Row[] = [
  ['its address at Scaleway', {}, 'approve MachineServes'],
  ['its address in the tailnet', named(ip(100, 64, 0, 7)), 'approve MachineServes'],
  ['both, and its name', named(ip(100, 64, 0, 7), ip(192, 0, 2, 7), dns('mac-1')), 'approve MachineServes'],
  ['an RSA key', asking({ keys: rsaKeys, attributes: ownAddress }), 'approve MachineServes'],
  [
    'an RSA key that enciphers keys',
    {
      ...asking({ keys: rsaKeys, attributes: ownAddress }),
      usages: ['key encipherment', 'digital signature', 'server auth'],
    },
    'approve MachineServes',
  ],
  [
    'an IPv6 address, however Scaleway spells it',
    {
      ...named(ip(0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7)),
      ...at({ providerAddresses: ['2001:0DB8:0:0:0:0:0:7'] }),
    },
    'approve MachineServes',
  ],
  [
    'a simulated Mac, whose address is that of this machine',
    { ...named(ip(127, 0, 0, 1)), ...at({ providerAddresses: ['127.0.0.1'], tailnet: false }) },
    'approve MachineServes',
  ],
  [
    'an address that others say they have, but Scaleway vouches for',
    at({ otherNodeAddresses: new Set(['192.0.2.7']) }),
    'approve MachineServes',
  ],

  // Names and addresses that are not its own.
  ['the address of another machine', named(ip(192, 0, 2, 8)), 'wait NotItsAddress'],
  ['the address of another machine, for long', { ...named(ip(192, 0, 2, 8)), ...old }, 'deny NotItsAddress'],
  ['the tailnet address of another Node', { ...named(ip(100, 64, 0, 8)), ...old }, 'deny NotItsAddress'],
  [
    'the tailnet address of another Node, which its own Node claims too',
    {
      ...named(ip(100, 64, 0, 8)),
      ...at({ node: { kind: 'ours', internalAddresses: ['100.64.0.7', '100.64.0.8'] } }),
      ...old,
    },
    'deny NotItsAddress',
  ],
  ['a tailnet address that no Node tells of', { ...named(ip(100, 64, 0, 9)), ...old }, 'deny NotItsAddress'],
  ['its own and one more', { ...named(ip(192, 0, 2, 7), ip(192, 0, 2, 9)), ...old }, 'deny NotItsAddress'],
  ['an address that only its Node tells of', { ...named(ip(10, 0, 0, 7)), ...old }, 'deny NotItsAddress'],
  [
    'a tailnet address without a tailnet',
    { ...named(ip(100, 64, 0, 7)), ...at({ tailnet: false }), ...old },
    'deny NotItsAddress',
  ],
  [
    'an address just below the tailnets',
    {
      ...named(ip(100, 63, 255, 255)),
      ...at({ node: { kind: 'ours', internalAddresses: ['100.63.255.255'] } }),
      ...old,
    },
    'deny NotItsAddress',
  ],
  [
    'an address of another network that its Node tells of',
    {
      ...named(ip(10, 64, 0, 7)),
      ...at({ node: { kind: 'ours', internalAddresses: ['10.64.0.7'] } }),
      createdAt: now - 5 * minute,
    },
    'deny NotItsAddress',
  ],
  [
    'an address just above the tailnets',
    { ...named(ip(100, 128, 0, 0)), ...at({ node: { kind: 'ours', internalAddresses: ['100.128.0.0'] } }), ...old },
    'deny NotItsAddress',
  ],
  [
    'its address in the clothes of IPv6',
    { ...named(ip(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 7)), ...old },
    'deny NotItsAddress',
  ],
  ['an address when Scaleway reports none', { ...at({ providerAddresses: [] }), ...old }, 'deny NotItsAddress'],
  ['an address when Scaleway reports none yet', at({ providerAddresses: [] }), 'wait NotItsAddress'],
  ['a request of unknown age', { ...at({ providerAddresses: [] }), createdAt: Number.NaN }, 'deny NotItsAddress'],
  ['any name of a domain', named(ip(192, 0, 2, 7), dns('*.example.com')), 'deny NotItsName'],
  ['any name', named(ip(192, 0, 2, 7), dns('*')), 'deny NotItsName'],
  ['the name of the API server', named(ip(192, 0, 2, 7), dns('kubernetes.default.svc')), 'deny NotItsName'],
  ['the name of another Node', named(ip(192, 0, 2, 7), dns('mac-1'), dns('mac-2')), 'deny NotItsName'],
  ['its name with a zero behind it', named(ip(192, 0, 2, 7), dns('mac-1\0')), 'deny NotItsName'],
  ['its name in capitals', named(ip(192, 0, 2, 7), dns('MAC-1')), 'deny NotItsName'],
  ['a mail address', named(ip(192, 0, 2, 7), mail('root@example.com')), 'deny ForeignNames'],
  ['a URI', named(ip(192, 0, 2, 7), uri('spiffe://cluster/ns/x')), 'deny ForeignNames'],
  ['no name at all', asking({}), 'deny NoNames'],
  ['an empty list of names', named(), 'deny NoNames'],
  ['its name and no address', named(dns('mac-1')), 'deny NoNames'],
  ['another extension too', asking({ attributes: [...ownAddress, keyUsageExtension()] }), 'deny ExtensionsAsked'],
  ["Microsoft's attribute", asking({ attributes: [microsoftAlternativeName('mac-1')] }), 'deny ExtensionsAsked'],

  // Subjects.
  ['another organisation', withSubject([[o('system:masters')], [cn('system:node:mac-1')]]), 'deny WrongSubject'],
  ['an organisation more', withSubject([...subjectOf('mac-1'), [o('system:masters')]]), 'deny WrongSubject'],
  ['no organisation', withSubject([[cn('system:node:mac-1')]]), 'deny WrongSubject'],
  ['a common name more', withSubject([[cn('system:node:mac-2')], ...subjectOf('mac-1')]), 'deny WrongSubject'],
  ['a common name that is no Node', withSubject([[o('system:nodes')], [cn('admin')]]), 'deny WrongSubject'],
  ['no subject', withSubject([]), 'deny WrongSubject'],
  ['a Node that no machine stands for', withSubject(subjectOf('worker-1')), 'deny NoSuchMachine'],
  ['a request that cannot be read', { reading: parseRequest('AAAA') }, 'deny MalformedRequest'],

  // Requesters.
  ['the subject of another Node', withSubject(subjectOf('mac-2')), 'deny NotItself'],
  ['another Node', asNode('mac-2'), 'deny NotItself'],
  ['a Linux node', asNode('worker-1'), 'deny NotItself'],
  [
    'a token that joins',
    { username: 'system:bootstrap:aaaaaa', groups: ['system:bootstrappers', joinGroup] },
    'deny NotItself',
  ],
  ['an administrator', { username: 'admin', groups: ['system:masters'] }, 'deny NotItself'],
  ["a Node's name without the Nodes' group", { username: 'system:node:mac-1', groups: [] }, 'deny NotItself'],

  // Form.
  ['a certificate for a client', { usages: ['digital signature', 'client auth'] }, 'deny WrongUsages'],
  ['for a client too', { usages: ['digital signature', 'server auth', 'client auth'] }, 'deny WrongUsages'],
  ['without signatures', { usages: ['server auth'] }, 'deny WrongUsages'],
  ['without a purpose', { usages: ['digital signature'] }, 'deny WrongUsages'],
  ['for nothing', { usages: [] }, 'deny WrongUsages'],
  ['a certificate authority', { usages: ['digital signature', 'server auth', 'cert sign'] }, 'deny WrongUsages'],
  [
    'key encipherment without an RSA key',
    { usages: ['digital signature', 'server auth', 'key encipherment'] },
    'deny WrongUsages',
  ],
  ['a second more than seven days', { expirationSeconds: 7 * day + 1 }, 'deny LifetimeTooLong'],
  ['a year, by saying nothing', { expirationSeconds: undefined }, 'deny LifetimeTooLong'],

  // Nodes and addresses.
  ['a machine that is being deleted', with1({ deleting: true }), 'deny MachineIsBeingDeleted'],
  ['a Node that was deleted', at({ node: { kind: 'absent' } }), 'wait NodeMissing'],
  [
    'a Node that was deleted and does not come back',
    { ...at({ node: { kind: 'absent' } }), ...old },
    'deny NodeMissing',
  ],
  ['addresses that were not read', { macAddresses: undefined, ...old }, 'deny NodeMissing'],

  // Left alone.
  ['another signer', { signerName: 'kubernetes.io/kube-apiserver-client' }, 'skip OtherSigner'],
  ['no signer', { signerName: '' }, 'skip OtherSigner'],
  ['one that has a verdict', { decided: true }, 'skip AlreadyDecided'],
  ['a Linux node for itself', { ...asNode('worker-1'), ...withSubject(subjectOf('worker-1')) }, 'skip NotOurs'],
  ["a Node that is not the machine's, though it has its name", with1({ node: 'foreign' }), 'skip NotOurs'],
  [
    'a Node of the name of a machine that has no Mac',
    { ...with1({ node: 'absent', serverID: undefined }), ...at({ node: { kind: 'absent' } }) },
    'skip NotOurs',
  ],
  ['a request for a Node that is no Mac', { ...with1({ node: 'foreign' }), ...asNode('worker-1') }, 'skip NotOurs'],
  [
    'a Mac that asks for a Node that is no Mac',
    { ...with1({ node: 'foreign' }), ...asNode('mac-2') },
    'deny NotItself',
  ],
  ['a Mac whose machine is gone', { machines: new Map(), macAddresses: undefined }, 'skip NotOurs'],
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

describe('decide, for a serving certificate request', () => {
  for (const [what, change, decision] of rows)
    test(`${decision}: ${what}`, () => assert.equal(short({ ...validRequest, ...change }), decision));

  const name = fc.constantFrom('mac-1', 'mac-2', 'worker-1');
  const oneName = fc.oneof(
    fc.constantFrom(ip(192, 0, 2, 7), ip(192, 0, 2, 8), ip(100, 64, 0, 7), ip(10, 0, 0, 7), dns('mac-1')),
    fc.ipV4().map((text) => ip(...text.split('.').map(Number))),
    fc.string().map(dns),
    fc.string().map(mail),
  );
  const address = fc.constantFrom('192.0.2.7', '192.0.2.8', '100.64.0.7', '10.0.0.7');
  const machine: fc.Arbitrary<MachineIdentity> = fc.record({
    uid: fc.string(),
    deleting: fc.boolean(),
    node: fc.constantFrom('absent', 'ours', 'foreign'),
    serverID: fc.option(fc.constant('s'), { nil: undefined }),
  });
  const fields = {
    now: fc.double(),
    createdAt: fc.oneof(fc.double(), fc.constant(now)),
    signerName: fc.oneof({ weight: 9, arbitrary: fc.constant(kubeletServingSigner) }, fc.string()),
    username: fc.oneof(
      fc.string(),
      name.map((n) => `system:node:${n}`),
    ),
    groups: fc.subarray([joinGroup, nodesGroup, 'system:masters']),
    usages: fc.subarray(['client auth', 'digital signature', 'key encipherment', 'server auth']),
    expirationSeconds: fc.option(fc.oneof(fc.constant(600), fc.double()), { nil: undefined }),
    decided: fc.boolean(),
    asked: fc
      .tuple(name, fc.array(oneName, { maxLength: 3 }))
      .map(([n, names]) => asking({ subject: subjectOf(n), attributes: [alternativeNames(...names)] })),
    machines: fc.uniqueArray(fc.tuple(name, machine), { selector: ([n]) => n }).map((list) => new Map(list)),
    macAddresses: fc.option(
      fc.record({
        providerAddresses: fc.array(address, { maxLength: 2 }),
        node: fc.oneof(
          fc.constant({ kind: 'absent' } as const),
          fc.array(address).map((internalAddresses) => ({ kind: 'ours', internalAddresses }) as const),
        ),
        tailnet: fc.boolean(),
        otherNodeAddresses: fc.array(address, { maxLength: 2 }).map((list) => new Set(list)),
      }),
      { nil: undefined },
    ),
  };
  const snapshot = fc
    .oneof(fc.record(fields), fc.record(fields, { requiredKeys: [] }))
    .map(({ asked, ...change }): RequestSnapshot => ({ ...validRequest, ...change, ...asked }));

  test('is total, and approves only known addresses of the Mac', () => {
    fc.assert(
      fc.property(snapshot, (each) => {
        const decision = decide(each);
        if (decision.kind !== 'approve') return ['skip', 'wait', 'deny'].includes(decision.kind);
        const { macAddresses: place, reading } = each;
        assert.ok(place?.node.kind === 'ours' && reading.ok);
        const names = parseAlternativeNames(reading.requested.attributes);
        assert.ok(names.ok);
        assert.equal(each.username, `system:node:${decision.nodeName}`);
        assert.equal(each.machines.get(decision.nodeName)?.deleting, false);
        assert.notEqual(each.machines.get(decision.nodeName)?.node, 'foreign');
        assert.ok(!each.usages.includes('client auth'));
        assert.ok(names.names.others === 0 && names.names.dnsNames.every((each) => each === decision.nodeName));
        const tailnet = place.tailnet ? place.node.internalAddresses.filter((a) => a.startsWith('100.64.')) : [];
        return names.names.addresses.every((a) => place.providerAddresses.includes(a) || tailnet.includes(a));
      }),
      { numRuns: 2000, examples: [[validRequest]] },
    );
  });

  test('never quotes the request in a message', () => {
    const planted = 'aaaaaa-planted';
    const changes = [
      named(dns(planted)),
      withSubject([[o(planted)]]),
      withSubject(subjectOf(planted)),
      { username: planted, groups: [planted] },
    ];
    for (const change of changes) assert.ok(!JSON.stringify(decide({ ...validRequest, ...change })).includes(planted));
  });
});
