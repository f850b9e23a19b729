import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import {
  certificateSigningRequests,
  createClient,
  createInformer,
  createSubresources,
  inProcessTransport,
  KubeError,
} from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { settle } from '@tartan/kube/testing';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { kubeletClientSigner, kubeletServingSigner, nodesGroup } from '../names.ts';
import { alternativeNames, generalName, makeCSR } from '../testing/make-csr.ts';
import { recordingLog } from '../testing/recording.ts';
import { createApprover, servingRequests } from './controller.ts';
import type { MacAddresses, MacAddressesOf } from './observe.ts';

const atHome: MacAddresses = {
  providerAddresses: ['192.0.2.7'],
  node: { kind: 'ours', internalAddresses: [] },
  tailnet: false,
  otherNodeAddresses: new Set(),
};

/** The embedded Kubernetes on virtual time, the Node of a machine, and the approver. */
const setUp = async (t: TestContext, macAddressesOf: MacAddressesOf) => {
  const clock = manualClock();
  const kubernetes = await createKubernetes({ clock, controllers: false });
  const as = (commonName: string, organizations: readonly string[]) =>
    inProcessTransport(kubernetes.handle, { user: { commonName, organizations } });
  const transport = as('provider', ['system:masters']);
  const client = createClient(transport, { clock });
  const { log, lines } = recordingLog();
  const resource = certificateSigningRequests;
  const requests = createInformer({ client, resource, ...servingRequests, clock, random: () => 0.5, log });
  const approver = createApprover({
    requests: [requests],
    subresources: createSubresources(transport, { clock }),
    machineOf: (name) => (name === 'mac-1' ? { uid: 'a', deleting: false, node: 'ours' } : undefined),
    macAddressesOf,
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
  const mac = createClient(as('system:node:mac-1', [nodesGroup]), { clock });
  const ask = async (signerName = kubeletServingSigner): Promise<void> => {
    await mac.create(resource, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'first' },
      spec: {
        request: makeCSR({ attributes: [alternativeNames(generalName.ip(192, 0, 2, 7))] }),
        signerName,
        usages: signerName === kubeletServingSigner ? ['server auth', 'digital signature'] : ['client auth'],
        expirationSeconds: 3600,
      },
    });
    await settle();
  };
  const pass = async (seconds: number): Promise<void> => {
    for (let passed = 0; passed < seconds; passed += 1) {
      clock.advance(1000);
      await settle();
    }
  };
  const verdict = async (): Promise<string> => {
    const [condition] = (await client.get(resource, { name: 'first' })).status?.conditions ?? [];
    return condition === undefined ? 'none' : `${condition.type} ${condition.reason}`;
  };
  return { ask, pass, verdict, lines };
};

describe('the approver of serving certificates', () => {
  test('writes one verdict and one log line', async (t) => {
    const { ask, verdict, lines } = await setUp(t, () => atHome);
    await ask();
    assert.equal(await verdict(), 'Approved MachineServes');
    assert.equal(lines.filter((line) => line.includes('is approved')).length, 1);
  });

  test('waits for a Node that registers a moment later', async (t) => {
    let place: MacAddresses = { ...atHome, node: { kind: 'absent' } };
    const { ask, pass, verdict } = await setUp(t, () => place);
    await ask();
    await pass(20);
    assert.equal(await verdict(), 'none');
    place = atHome;
    await pass(6);
    assert.equal(await verdict(), 'Approved MachineServes');
  });

  test('denies a request whose Node does not register', async (t) => {
    const { ask, pass, verdict } = await setUp(t, () => ({ ...atHome, node: { kind: 'absent' } }));
    await ask();
    await pass(6 * 60);
    assert.equal(await verdict(), 'Denied NodeMissing');
  });

  test('decides nothing while the addresses of the Mac cannot be read', async (t) => {
    let away = true;
    const { ask, pass, verdict } = await setUp(t, async () => {
      if (away) throw new KubeError('unreachable', 'away');
      return atHome;
    });
    await ask();
    assert.equal(await verdict(), 'none');
    away = false;
    await pass(5);
    assert.equal(await verdict(), 'Approved MachineServes');
  });

  test('ignores requests for other signers', async (t) => {
    const { ask, verdict } = await setUp(t, () => assert.fail('asked'));
    await ask(kubeletClientSigner);
    assert.equal(await verdict(), 'none');
  });
});
