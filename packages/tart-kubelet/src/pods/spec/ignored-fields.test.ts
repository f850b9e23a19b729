import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../snapshot.ts';
import { ignoredFields } from './admission.ts';

type Spec = NonNullable<Pod['spec']>;
type Container = Spec['containers'][number];

const podWith = (spec: Partial<Spec>, container: Partial<Container> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'job', namespace: 'default' },
  spec: { containers: [{ name: 'runner', image: 'ghcr.io/example/macos:26', ...container }], ...spec },
});

const probe = { exec: { command: ['true'] } };

describe('fields of a Pod that are ignored', () => {
  const ofSpec: readonly [string, Partial<Spec>][] = [
    ['dnsConfig', { dnsConfig: { nameservers: ['192.0.2.1'] } }],
    ['dnsPolicy', { dnsPolicy: 'None' }],
    ['hostAliases', { hostAliases: [{ ip: '192.0.2.1', hostnames: ['x'] }] }],
    ['hostIPC', { hostIPC: true }],
    ['hostNetwork', { hostNetwork: true }],
    ['hostPID', { hostPID: true }],
    ['hostUsers', { hostUsers: false }],
    ['hostname', { hostname: 'x' }],
    ['runtimeClassName', { runtimeClassName: 'x' }],
    ['securityContext', { securityContext: { runAsUser: 501 } }],
    ['setHostnameAsFQDN', { setHostnameAsFQDN: true }],
    ['shareProcessNamespace', { shareProcessNamespace: true }],
    ['subdomain', { subdomain: 'x' }],
  ];
  for (const [field, spec] of ofSpec)
    it(`spec.${field}`, () => assert.deepEqual(ignoredFields(podWith(spec)), [`spec.${field}`]));

  const ofContainer: readonly [string, Partial<Container>][] = [
    ['lifecycle', { lifecycle: { preStop: probe } }],
    ['livenessProbe', { livenessProbe: probe }],
    ['ports[1].hostPort', { ports: [{ containerPort: 1 }, { containerPort: 2, hostPort: 2 }] }],
    ['readinessProbe', { readinessProbe: probe }],
    ['restartPolicy', { restartPolicy: 'Always' }],
    ['securityContext', { securityContext: { privileged: true } }],
    ['startupProbe', { startupProbe: probe }],
    ['stdin', { stdin: true }],
    ['terminationMessagePath', { terminationMessagePath: '/tmp/end' }],
    ['terminationMessagePolicy', { terminationMessagePolicy: 'FallbackToLogsOnError' }],
    ['tty', { tty: true }],
    ['volumeMounts[0].subPath', { volumeMounts: [{ name: 'v', mountPath: '/v', subPath: 'x' }] }],
    ['workingDir', { workingDir: '/tmp' }],
  ];
  for (const [field, container] of ofContainer)
    it(`spec.containers[0].${field}`, () =>
      assert.deepEqual(ignoredFields(podWith({}, container)), [`spec.containers[0].${field}`]));

  it('a Pod with supported fields only has none', () =>
    assert.deepEqual(
      ignoredFields(
        podWith(
          {
            activeDeadlineSeconds: 1,
            dnsPolicy: 'Default',
            imagePullSecrets: [{ name: 'x' }],
            nodeSelector: { a: 'b' },
            priorityClassName: 'x',
            readinessGates: [{ conditionType: 'x' }],
            restartPolicy: 'OnFailure',
            securityContext: {},
            serviceAccountName: 'x',
            shareProcessNamespace: false,
            terminationGracePeriodSeconds: 1,
            tolerations: [{ operator: 'Exists' }],
          },
          {
            env: [{ name: 'A', value: 'b' }],
            imagePullPolicy: 'Never',
            ports: [{ containerPort: 80, protocol: 'TCP' }],
            resources: { limits: { cpu: '4' } },
            volumeMounts: [{ name: 'v', mountPath: '/v', readOnly: true }],
          },
        ),
      ),
      [],
    ));
});
