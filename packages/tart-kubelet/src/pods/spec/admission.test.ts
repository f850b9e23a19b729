import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { labels, macTaint } from '@tartan/api';
import type { Pod } from '../snapshot.ts';
import { examplePod } from '../testing/example.ts';
import { type Admission, admit } from './admission.ts';

type Spec = NonNullable<Pod['spec']>;
const daemon = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'csi', uid: 'd' }];
const shaped = (change: (spec: Spec, pod: Pod) => void): Admission =>
  admit(examplePod((pod) => pod.spec && change(pod.spec, pod)));

describe('admission of a Pod', () => {
  const rows: [string, (spec: Spec, pod: Pod) => void, Admission['kind']][] = [
    ['a runner', () => {}, 'suited'],
    ['spec.os is linux', (spec) => void (spec.os = { name: 'linux' }), 'not for Macs'],
    ['the node selector asks for linux', (spec) => void (spec.nodeSelector = { [labels.os]: 'linux' }), 'not for Macs'],
    [
      'a DaemonSet that tolerates everything',
      (spec, pod) => {
        spec.tolerations = [{ operator: 'Exists' }];
        if (pod.metadata) pod.metadata.ownerReferences = daemon;
      },
      'not for Macs',
    ],
    [
      'a DaemonSet Pod with two containers',
      (spec, pod) => {
        spec.tolerations = [{ operator: 'Exists' }];
        spec.containers.push({ name: 'b' });
        if (pod.metadata) pod.metadata.ownerReferences = daemon;
      },
      'not for Macs',
    ],
    [
      'a DaemonSet that tolerates the taint of Macs by name',
      (spec, pod) => {
        spec.tolerations = [{ key: macTaint.key, operator: 'Exists' }];
        if (pod.metadata) pod.metadata.ownerReferences = daemon;
      },
      'suited',
    ],
    [
      'a DaemonSet that selects a fleet',
      (spec, pod) => {
        spec.tolerations = [{ operator: 'Exists' }];
        spec.nodeSelector = { [labels.fleet]: 'a' };
        if (pod.metadata) pod.metadata.ownerReferences = daemon;
      },
      'suited',
    ],
    ['two containers', (spec) => void spec.containers.push({ name: 'b' }), 'unsupported'],
    ['init containers', (spec) => void (spec.initContainers = [{ name: 'i' }]), 'unsupported'],
    ['no image', (spec) => void delete spec.containers[0]?.image, 'unsupported'],
    ['a command', (spec) => void (spec.containers[0] && (spec.containers[0].command = ['sh'])), 'unsupported'],
    [
      'a mounted volume of the cluster',
      (spec) => {
        spec.volumes = [{ name: 'data', emptyDir: {} }];
        if (spec.containers[0]) spec.containers[0].volumeMounts = [{ name: 'data', mountPath: '/data' }];
      },
      'unsupported',
    ],
    ['a volume that nobody mounts', (spec) => void (spec.volumes = [{ name: 'data', emptyDir: {} }]), 'suited'],
    [
      'the token that Kubernetes mounts by itself',
      (spec) => {
        spec.volumes = [{ name: 'kube-api-access', projected: { sources: [] } }];
        if (spec.containers[0]) spec.containers[0].volumeMounts = [{ name: 'kube-api-access', mountPath: '/var' }];
      },
      'suited',
    ],
  ];
  for (const [sentence, change, kind] of rows) it(sentence, () => assert.equal(shaped(change).kind, kind));
  it('a Pod without a spec is rejected', () =>
    assert.equal(admit({ apiVersion: 'v1', kind: 'Pod' }).kind, 'unsupported'));
});
