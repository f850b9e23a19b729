import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { schemaOf } from '../generated/catalogue.ts';
import { builtinTypeError, customTypeError } from './type-errors.ts';

const pod = (spec: unknown, metadata: unknown = {}): [string, object] => [
  '/v1/Pod',
  { apiVersion: 'v1', kind: 'Pod', metadata, spec },
];
const configMap = (fields: object, metadata: unknown = {}): [string, object] => [
  '/v1/ConfigMap',
  { apiVersion: 'v1', kind: 'ConfigMap', metadata, ...fields },
];
const lease = (spec: object): [string, object] => [
  'coordination.k8s.io/v1/Lease',
  { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: {}, spec },
];
const quantities = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** Answers of kube-apiserver 1.36.3, without the prefix `… cannot be handled as a …: `. */
const table: [body: [string, object], text: string | undefined][] = [
  [pod(5), 'json: cannot unmarshal number into Go struct field Pod.spec of type v1.PodSpec'],
  [pod([]), 'json: cannot unmarshal array into Go struct field Pod.spec of type v1.PodSpec'],
  [
    pod({ containers: {} }),
    'json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container',
  ],
  [
    pod({ containers: [{ name: 5 }] }),
    'json: cannot unmarshal number into Go struct field Container.spec.containers.name of type string',
  ],
  [
    pod({ hostNetwork: 'yes' }),
    'json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool',
  ],
  [
    configMap({}, { labels: { a: 1 } }),
    'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string',
  ],
  [configMap({ data: { a: 1 } }), 'json: cannot unmarshal number into Go struct field ConfigMap.data of type string'],
  [
    configMap({ data: [] }),
    'json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string',
  ],
  [configMap({}, 'x'), 'json: cannot unmarshal string into Go struct field ConfigMap.metadata of type v1.ObjectMeta'],
  [configMap({ binaryData: { a: '%%' } }), 'illegal base64 data at input byte 0'],
  [
    configMap({}, { finalizers: 'x' }),
    'json: cannot unmarshal string into Go struct field ObjectMeta.metadata.finalizers of type []string',
  ],
  [
    configMap({}, { ownerReferences: [{ name: 1 }] }),
    'json: cannot unmarshal number into Go struct field OwnerReference.metadata.ownerReferences.name of type string',
  ],
  [pod({ containers: [{ name: 'a', resources: { limits: { cpu: 'x y' } } }] }), quantities],
  [pod({ containers: [{ name: 'a', resources: { limits: { cpu: true } } }] }), quantities],
  [
    pod({}, { creationTimestamp: 'nope' }),
    'parsing time "nope" as "2006-01-02T15:04:05Z07:00": cannot parse "nope" as "2006"',
  ],
  [
    pod({}, { creationTimestamp: 5 }),
    'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string',
  ],
  [
    lease({ leaseDurationSeconds: '1' }),
    'json: cannot unmarshal string into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32',
  ],
  [
    lease({ leaseDurationSeconds: 3_000_000_000 }),
    'json: cannot unmarshal number 3000000000 into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32',
  ],
  [
    lease({ leaseDurationSeconds: 1.5 }),
    'json: cannot unmarshal number 1.5 into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32',
  ],
  [
    lease({ renewTime: '2020-01-01T00:00:00Z' }),
    'parsing time "2020-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
  ],
  [
    pod({ containers: [{ name: 'a', resources: { limits: { cpu: 1, memory: '1Gi' } } }], hostname: null }, null),
    undefined,
  ],
  [lease({ renewTime: '2020-01-01T00:00:00.000000Z', leaseDurationSeconds: 40 }), undefined],
];

describe('decodeErrors', () => {
  for (const [[key, body], text] of table) {
    it(`has the error of Go for ${JSON.stringify(body)}`, () => {
      const [group = '', version = '', kind = ''] = key.split('/');
      const schema = schemaOf(group, version, kind);
      assert.ok(schema);
      assert.equal(builtinTypeError(body, schema), text);
    });
  }
});

describe('decodeCustomErrors', () => {
  const schema = {
    type: 'object',
    properties: { e: { type: 'object', 'x-kubernetes-embedded-resource': true } },
  } as const;
  const rows: [body: object, text: string | undefined][] = [
    [
      { metadata: { labels: { a: 1 } } },
      'json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
    ],
    [{ metadata: { name: 5 } }, 'json: cannot unmarshal number into Go struct field ObjectMeta.name of type string'],
    [{ metadata: 'x' }, 'json: cannot unmarshal string into Go value of type v1.ObjectMeta'],
    [{ e: { apiVersion: 5, kind: 'K' } }, 'e.apiVersion: Invalid value: 5: must be a string'],
    [
      { e: { apiVersion: 'v1', kind: 'K', metadata: { labels: 5 } } },
      'e.metadata: Invalid value: {"labels":5}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type map[string]string',
    ],
    [{ metadata: { name: 'a' }, e: { apiVersion: 'v1', kind: 'K' }, spec: 5 }, undefined],
  ];
  for (const [body, text] of rows) {
    it(`has the error of the real server for ${JSON.stringify(body)}`, () => {
      assert.equal(customTypeError(body, schema), text);
    });
  }
});
