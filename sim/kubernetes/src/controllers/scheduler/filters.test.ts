import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Node, NodeSelectorTerm, Pod, PodSpec, Requirement } from '../runtime/objects.ts';
import { matchesNode, namedNodes, podRequests } from './filters.ts';

const metadata = { name: 'p', uid: 'u', resourceVersion: '1', creationTimestamp: '' };
const node: Node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { ...metadata, name: 'mac-1', labels: { os: 'darwin', cores: '10' } },
  spec: {},
};
const pod = (spec: PodSpec): Pod => ({ apiVersion: 'v1', kind: 'Pod', metadata, spec });
const requiring = (...nodeSelectorTerms: NodeSelectorTerm[]): Pod =>
  pod({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } });
const label = (key: string, operator: string, ...values: string[]): NodeSelectorTerm => ({
  matchExpressions: [{ key, operator, values }],
});
const named = (operator: string, ...values: string[]): Requirement => ({ key: 'metadata.name', operator, values });

const table: [string, Pod, boolean][] = [
  ['no wishes', pod({}), true],
  ['nodeSelector fits', pod({ nodeSelector: { os: 'darwin' } }), true],
  ['nodeSelector does not fit', pod({ nodeSelector: { os: 'linux' } }), false],
  ['In', requiring(label('os', 'In', 'linux', 'darwin')), true],
  ['In without the label', requiring(label('zone', 'In', 'a')), false],
  ['NotIn', requiring(label('os', 'NotIn', 'darwin')), false],
  ['NotIn without the label', requiring(label('zone', 'NotIn', 'a')), true],
  ['Exists', requiring(label('os', 'Exists')), true],
  ['DoesNotExist', requiring(label('os', 'DoesNotExist')), false],
  ['Gt', requiring(label('cores', 'Gt', '9')), true],
  ['Gt compares numbers, not texts', requiring(label('cores', 'Gt', '10')), false],
  ['Lt', requiring(label('cores', 'Lt', '11')), true],
  ['Lt of what is no number', requiring(label('os', 'Lt', '11')), false],
  ['an unknown operator', requiring(label('os', 'Like', 'd')), false],
  ['a label of Object.prototype', requiring(label('toString', 'Exists')), false],
  ['terms are alternatives', requiring(label('os', 'In', 'linux'), label('cores', 'Exists')), true],
  [
    'expressions of one term must all fit',
    requiring({
      matchExpressions: [
        { key: 'os', operator: 'Exists' },
        { key: 'zone', operator: 'Exists' },
      ],
    }),
    false,
  ],
  ['an empty term takes nothing', requiring({}), false],
  ['no terms take nothing', requiring(), false],
  ['the name', requiring({ matchFields: [named('In', 'mac-1')] }), true],
  ['another name', requiring({ matchFields: [named('In', 'mac-2')] }), false],
  ['not the name', requiring({ matchFields: [named('NotIn', 'mac-2')] }), true],
  ['two names at once are refused', requiring({ matchFields: [named('In', 'mac-1', 'mac-2')] }), false],
];
for (const [name, wishing, expected] of table) {
  test(`node affinity: ${name}`, () => assert.equal(matchesNode(wishing, node), expected));
}

const naming: [string, Pod, string[] | undefined][] = [
  ['no affinity leaves it open', pod({}), undefined],
  ['one name', requiring({ matchFields: [named('In', 'a')] }), ['a']],
  [
    'alternatives are joined',
    requiring({ matchFields: [named('In', 'a')] }, { matchFields: [named('In', 'b')] }),
    ['a', 'b'],
  ],
  [
    'one alternative without a name leaves it open',
    requiring({ matchFields: [named('In', 'a')] }, label('os', 'Exists')),
    undefined,
  ],
  ['two names in one term contradict', requiring({ matchFields: [named('In', 'a'), named('In', 'b')] }), []],
];
for (const [name, wishing, expected] of naming) {
  test(`named nodes: ${name}`, () =>
    assert.deepEqual(namedNodes(wishing) && [...(namedNodes(wishing) ?? [])], expected));
}

const asks = (requests: Record<string, string>, restartPolicy?: string): Container => ({
  name: 'c',
  resources: { requests },
  ...(restartPolicy ? { restartPolicy } : {}),
});

const requestCases: [string, PodSpec, Record<string, number>][] = [
  ['nothing asked', { containers: [{ name: 'c' }] }, {}],
  [
    'containers add up',
    { containers: [asks({ cpu: '500m' }), asks({ cpu: '1', memory: '1k' })] },
    { cpu: 1.5, memory: 1000 },
  ],
  [
    'the largest init container counts, not their sum',
    { containers: [asks({ cpu: '1' })], initContainers: [asks({ cpu: '3' }), asks({ cpu: '2' })] },
    { cpu: 3 },
  ],
  [
    'an init container that is smaller than the containers does not count',
    { containers: [asks({ cpu: '2' })], initContainers: [asks({ cpu: '1', memory: '5' })] },
    { cpu: 2, memory: 5 },
  ],
  [
    'a sidecar runs beside the containers',
    { containers: [asks({ cpu: '1' })], initContainers: [asks({ cpu: '2' }, 'Always')] },
    { cpu: 3 },
  ],
  [
    'an init container runs beside the sidecars before it only',
    {
      containers: [asks({ cpu: '1' })],
      initContainers: [asks({ cpu: '9' }), asks({ cpu: '2' }, 'Always'), asks({ cpu: '8' })],
    },
    { cpu: 10 },
  ],
  [
    'requests of the Pod stand in for those of its containers, but for extended resources',
    {
      containers: [asks({ cpu: '1', 'example.com/gpu': '1' })],
      resources: { requests: { cpu: '4', 'example.com/gpu': '7' } },
    },
    { cpu: 4, 'example.com/gpu': 1 },
  ],
  ['overhead comes on top', { containers: [asks({ cpu: '1' })], overhead: { cpu: '250m' } }, { cpu: 1.25 }],
];

for (const [name, spec, expected] of requestCases) {
  test(`requests: ${name}`, () => {
    const metadata = { name: 'p', uid: 'u', resourceVersion: '1', creationTimestamp: '' };
    const amounts = podRequests({ apiVersion: 'v1', kind: 'Pod', metadata, spec });
    const shown = Object.fromEntries([...amounts].map(([key, amount]) => [key, Number(amount) / 1e9]));
    assert.deepEqual(shown, expected);
  });
}
