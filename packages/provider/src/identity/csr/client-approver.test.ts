import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import {
  certificateSigningRequests,
  createClient,
  createInformer,
  createSubresources,
  inProcessTransport,
  KubeError,
  type KubeErrorReason,
  type Transport,
} from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { settle } from '@tartan/kube/testing';
import { bindClusterRole, createKubernetes } from '@tartan/sim-kubernetes';
import { joinGroup, kubeletClientSigner } from '../names.ts';
import { joinBinding } from '../rights.ts';
import { makeCSR } from '../testing/make-csr.ts';
import { recordingLog } from '../testing/recording.ts';
import { clientRequests, createApprover } from './controller.ts';
import type { MachineIdentity, MachineOf } from './observe.ts';

const machine: MachineIdentity = {
  uid: 'a',
  deleting: false,
  node: 'absent',
  serverID: 's',
  tokenID: 'aaaaaa',
};

/** The embedded Kubernetes on virtual time, a Mac with a token, and an approver whose writes can fail. */
const setUp = async (t: TestContext, machineOf: MachineOf = () => machine) => {
  const clock = manualClock();
  const kubernetes = await createKubernetes({ clock, controllers: false });
  bindClusterRole(kubernetes.api, joinBinding.clusterRole, { kind: 'Group', name: joinBinding.group });
  const as = (commonName: string, organizations: readonly string[]): Transport =>
    inProcessTransport(kubernetes.handle, { user: { commonName, organizations } });
  const direct = as('provider', ['system:masters']);
  const failures: KubeErrorReason[] = [];
  const attempts: string[] = [];
  const transport: Transport = {
    ...direct,
    send: (request) => {
      if (request.method !== 'PUT') return direct.send(request);
      attempts.push(request.path);
      const reason = failures.shift();
      return reason ? Promise.reject(new KubeError(reason, 'as the test wants')) : direct.send(request);
    },
  };
  const client = createClient(transport, { clock });
  const { log, lines } = recordingLog();
  const requests = createInformer({
    client,
    resource: certificateSigningRequests,
    ...clientRequests,
    clock,
    random: () => 0.5,
    log,
  });
  const approver = createApprover({
    requests: [requests],
    subresources: createSubresources(transport, { clock }),
    machineOf,
    macAddressesOf: () => assert.fail('no serving certificate is requested'),
    clock,
    log,
  });
  const stopping = new AbortController();
  const running = Promise.all([requests.run(stopping.signal), approver.run(stopping.signal)]);
  t.after(async () => {
    stopping.abort();
    await settle();
    await running;
    kubernetes.stop();
  });
  const mac = createClient(as('system:bootstrap:aaaaaa', ['system:bootstrappers', joinGroup]), { clock });
  const ask = (signerName = kubeletClientSigner) =>
    mac.create(certificateSigningRequests, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'first' },
      spec: {
        request: makeCSR({}),
        signerName,
        usages: ['client auth', 'digital signature'],
        expirationSeconds: 3600,
      },
    });
  const verdict = async (): Promise<string | undefined> =>
    (await client.get(certificateSigningRequests, { name: 'first' })).status?.conditions?.[0]?.type;
  return { clock, client, failures, attempts, lines, ask, verdict };
};

describe('the approver of client certificates', () => {
  test('writes one verdict and one log line', async (t) => {
    const { ask, verdict, attempts, lines } = await setUp(t);
    await ask();
    await settle();
    assert.equal(await verdict(), 'Approved');
    assert.equal(attempts.length, 1);
    assert.equal(lines.filter((line) => line.includes('is approved')).length, 1);
  });

  test('ignores requests for other signers', async (t) => {
    const { ask, verdict, attempts } = await setUp(t, () => assert.fail('asked'));
    await ask('kubernetes.io/kube-apiserver-client');
    await settle();
    assert.equal(await verdict(), undefined);
    assert.deepEqual(attempts, []);
  });

  test('retries when the server does not answer', async (t) => {
    const { ask, verdict, failures, clock } = await setUp(t);
    failures.push('unreachable', 'serverError');
    await ask();
    await settle();
    for (let second = 0; second < 5; second += 1) {
      clock.advance(1000);
      await settle();
    }
    assert.equal(await verdict(), 'Approved');
  });

  test('does nothing after a conflict or when the request is gone', async (t) => {
    for (const reason of ['conflict', 'notFound'] as const) {
      const { ask, failures, attempts, clock, lines } = await setUp(t);
      failures.push(reason);
      await ask();
      await settle();
      clock.advance(60_000);
      await settle();
      assert.equal(attempts.length, 1);
      assert.ok(!lines.some((line) => line.includes('is approved')));
    }
  });

  test('denies nothing while the machine cannot be read', async (t) => {
    let away = true;
    const { ask, verdict, clock } = await setUp(t, async () => {
      if (away) throw new KubeError('unreachable', 'away');
      return machine;
    });
    await ask();
    await settle();
    assert.equal(await verdict(), undefined);
    away = false;
    clock.advance(1000);
    await settle();
    assert.equal(await verdict(), 'Approved');
  });
});
