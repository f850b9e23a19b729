import assert from 'node:assert/strict';
import { randomBytes, randomUUID, X509Certificate } from 'node:crypto';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  certificateSigningRequests,
  type Client,
  createClient,
  createInformer,
  createSubresources,
  leases,
  type Live,
  nodes,
  type Transport,
} from '@tartan/kube';
import { type Clock, systemClock } from '@tartan/kube/clock';
import {
  clientRequests,
  createApprover,
  servingRequests,
} from '../../../packages/provider/src/identity/csr/controller.ts';
import type { MachineIdentity } from '../../../packages/provider/src/identity/csr/observe.ts';
import { joinKubeconfig } from '../../../packages/provider/src/identity/join-kubeconfig.ts';
import { deleteJoinToken, mintJoinToken } from '../../../packages/provider/src/identity/join-token.ts';
import { macAddressLookup } from '../../../packages/provider/src/identity/machine-lookup.ts';
import { keepServingCertificate } from '../../../packages/tart-kubelet/src/api/serving-certificate.ts';
import { createNodeIdentity } from '../../../packages/tart-kubelet/src/identity/node-identity.ts';
import { createRecordingLogger } from '../../../packages/tart-kubelet/src/identity/testing/recording-logger.ts';
import type { Facts } from '../../../packages/tart-kubelet/src/facts/host-facts.ts';
import { createNodeController } from '../../../packages/tart-kubelet/src/node/controller.ts';
import {
  exampleFacts,
  exampleNodeConfig,
  fakeHostFacts,
} from '../../../packages/tart-kubelet/src/node/testing/fixtures.ts';
import { waitForObject } from '../../system/wait-for-object.ts';

type Node = NonNullable<(typeof nodes)['ofType']>;
type Lease = NonNullable<(typeof leases)['ofType']>;

/** A cluster with the Node authorizer, and a binding for bootstrap tokens. */
export interface NodeCluster {
  readonly url: string;
  readonly ca: string;
  readonly admin: Transport;
  close(): Promise<void>;
}

const options = { clock: systemClock };
/** Waits are a twentieth as long; timeouts of requests are not, as those are the client's. */
const hasty: Clock = { ...systemClock, after: (milliseconds, run) => systemClock.after(milliseconds / 20, run) };

/** A Mac joins, from the agent's side: its own code, the provider's approver, and a server that checks every right. */
export const runAgentNodeSuite = (title: string, start: () => Promise<NodeCluster>): void => {
  describe(title, { timeout: 1_200_000 }, () => {
    const name = `mac-${randomUUID().slice(0, 8)}`;
    const inLeases = { namespace: 'kube-node-lease', name };
    const providerID = `scw-applesilicon://fr-par-1/${name}`;
    const machine: { identity: MachineIdentity } = {
      identity: { uid: 'u1', deleting: false, node: 'absent', serverID: name, providerID },
    };
    const { log, lines } = createRecordingLogger();
    const facts: { -readonly [Name in keyof Facts]: Facts[Name] } = { ...exampleFacts };
    const approving = new AbortController();
    let folder = '';
    let cluster: NodeCluster;
    let admin: Client;
    let approver: Promise<unknown>;
    let tokenID = '';
    let ending = new AbortController();
    let agent: Promise<unknown> = Promise.resolve();
    let nudge = (): void => {};
    let agentClient = (): Client => admin;

    const startAgent = async (): Promise<void> => {
      ending = new AbortController();
      const kubeconfig = join(folder, 'kubeconfig');
      const identity = createNodeIdentity({ kubeconfig, nodeName: name, clock: systemClock, random: Math.random, log });
      const client = createClient(identity.transport, options);
      agentClient = () => client;
      const controller = createNodeController({
        client,
        config: { ...exampleNodeConfig, nodeName: name, providerID },
        host: fakeHostFacts(facts),
        stamps: join(folder, 'stamps'),
        clock: hasty,
        random: Math.random,
        log,
      });
      nudge = () => controller.trigger();
      const joined = identity.run(ending.signal);
      const { signal } = ending;
      agent = Promise.all([joined, identity.ready.then(() => controller.run(signal))]);
      await controller.ready;
    };
    const endAgent = async (): Promise<void> => {
      ending.abort();
      await agent;
    };
    const node = () => admin.get(nodes, { name });
    const statusOf = (seen: Node | undefined, type: string) =>
      seen?.status?.conditions?.find((each) => each.type === type)?.status;
    const nodeUntil = (what: string, signal: AbortSignal, holds: (seen: Live<Node> | undefined) => boolean) =>
      waitForObject({ client: admin, resource: nodes, name: { name }, what, holds, signal });
    const leaseUntil = (what: string, signal: AbortSignal, holds: (seen: Live<Lease> | undefined) => boolean) =>
      waitForObject({ client: admin, resource: leases, name: inLeases, what, holds, signal });

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'agent-node-'));
      cluster = await start();
      admin = createClient(cluster.admin, options);
      const cacheOf = (selection: { fieldSelector: string }) =>
        createInformer({
          client: admin,
          resource: certificateSigningRequests,
          ...selection,
          ...options,
          random: Math.random,
          log,
        });
      const requests = [cacheOf(clientRequests), cacheOf(servingRequests)];
      const controller = createApprover({
        subresources: createSubresources(cluster.admin, options),
        machineOf: async (asked: string) => (asked === name ? machine.identity : undefined),
        macAddressesOf: macAddressLookup(admin, { tailnet: true }),
        requests,
        ...options,
        log,
      });
      approver = Promise.all([...requests, controller].map((part) => part.run(approving.signal)));
      const token = await mintJoinToken(admin, {
        machine: { namespace: 'default', name, uid: 'u1' },
        record: async (record) => {
          tokenID = record.tokenID;
          machine.identity = { ...machine.identity, tokenID, tokenExpiresAt: record.expiresAt };
        },
        ...options,
        random: randomBytes,
        lifetimeMs: 3_600_000,
      });
      const caData = Buffer.from(cluster.ca).toString('base64');
      const text = joinKubeconfig({ server: cluster.url, caData, token, nodeName: name });
      await writeFile(join(folder, 'kubeconfig'), text, { mode: 0o600 });
    });
    after(async () => {
      await endAgent();
      approving.abort();
      await approver;
      await deleteJoinToken(admin, tokenID);
      for (const { metadata, spec } of (await admin.list(certificateSigningRequests)).items)
        if ([`system:node:${name}`, `system:bootstrap:${tokenID}`].includes(spec.username ?? ''))
          await admin.delete(certificateSigningRequests, { name: metadata.name });
      await admin.delete(leases, { namespace: 'kube-node-lease', name }).catch(() => {});
      await admin.delete(nodes, { name }).catch(() => {});
      await cluster.close();
      await rm(folder, { recursive: true });
    });

    test('the agent joins with its token and registers its Node', async () => {
      await startAgent();
      const { metadata, spec, status } = await node();
      assert.equal(spec?.providerID, providerID);
      assert.ok(spec?.taints?.some(({ key, effect }) => key === 'tuist.dev/macos' && effect === 'NoSchedule'));
      assert.equal(metadata.labels?.['tuist.dev/fleet'], 'runners');
      assert.equal(metadata.labels?.['tuist.dev/golden-0123456789abcdef'], 'true');
      assert.equal(metadata.annotations?.['tuist.dev/agent-version'], exampleNodeConfig.agentVersion);
      assert.equal(status?.nodeInfo?.kubeletVersion, 'v1.36.3');
      assert.deepEqual(status?.capacity, { cpu: '8', memory: '14Gi', pods: '3', 'ephemeral-storage': '460Gi' });
      assert.deepEqual(status?.daemonEndpoints, { kubeletEndpoint: { Port: 10_250 } });
      assert.deepEqual(status?.declaredFeatures, ['ExtendWebSocketsToKubelet']);
      assert.equal(status?.images?.length, 1);
      const said = status?.conditions?.map(({ type, status: is }) => `${type}=${is}`).sort();
      const wanted = [
        'DiskPressure=False',
        'GUISession=True',
        'GuestAddresses=True',
        'MemoryPressure=False',
        'PIDPressure=False',
      ];
      assert.deepEqual(said, [...wanted, 'Ready=True', 'VMSlots=True', 'VMStart=True']);
      assert.equal((await stat(join(folder, 'node-certificate.pem'))).mode & 0o777, 0o600);
    });

    test('the Lease is renewed, and deleted with the Node', async ({ signal }) => {
      const first = await leaseUntil('is there', signal, (seen) => seen?.spec?.renewTime !== undefined);
      const { uid } = (await node()).metadata;
      assert.deepEqual(
        first?.metadata.ownerReferences?.map((owner) => owner.uid),
        [uid],
      );
      await leaseUntil('is renewed', signal, (seen) => seen?.spec?.renewTime !== first?.spec?.renewTime);
    });

    test('changes of labels and status on the Mac are stored', async ({ signal }) => {
      facts.labels = { 'tuist.dev/golden-ffff': 'true' };
      facts.guiSession = false;
      facts.address = '10.0.0.8';
      nudge();
      await nodeUntil('has no session', signal, (seen) => statusOf(seen, 'GUISession') === 'False');
      const isLabelled = (seen: Node | undefined): boolean =>
        seen?.metadata?.labels?.['tuist.dev/golden-ffff'] === 'true';
      const seen = await nodeUntil('has the label', signal, isLabelled);
      assert.equal(seen?.metadata.labels?.['tuist.dev/golden-0123456789abcdef'], undefined);
      assert.deepEqual(seen?.status?.addresses, [{ type: 'InternalIP', address: '10.0.0.8' }]);
      assert.equal(statusOf(seen, 'Ready'), 'True');
    });

    test('the agent gets a serving certificate for the tailnet address of its Node', async ({ signal }) => {
      facts.address = '100.64.7.9';
      nudge();
      const isThere = (seen: Live<Node> | undefined): boolean => seen?.status?.addresses?.[0]?.address === '100.64.7.9';
      await nodeUntil('has the address', signal, isThere);
      const got = Promise.withResolvers<string>();
      const over = AbortSignal.any([signal, ending.signal]);
      const stop = new AbortController();
      const serving = keepServingCertificate(
        {
          client: agentClient(),
          subject: { nodeName: name, address: '100.64.7.9' },
          file: join(folder, 'serving-certificate.pem'),
          onCertificate: ({ cert }) => got.resolve(cert),
          clock: hasty,
          random: Math.random,
          log,
        },
        AbortSignal.any([over, stop.signal]),
      );
      const certificate = new X509Certificate(await got.promise);
      stop.abort();
      await serving;
      assert.equal(certificate.subjectAltName, 'IP Address:100.64.7.9');
    });

    test('a cordon is kept, whatever the agent writes', async ({ signal }) => {
      const body = { spec: { unschedulable: true } };
      await admin.patch(nodes, { name }, { type: 'merge', body });
      facts.guiSession = true;
      nudge();
      const seen = await nodeUntil('has a session', signal, (now) => statusOf(now, 'GUISession') === 'True');
      assert.equal(seen?.spec?.unschedulable, true);
    });

    test('a deleted Node is registered again completely', async ({ signal }) => {
      const { uid } = (await node()).metadata;
      await admin.delete(nodes, { name });
      const isNew = (seen: Live<Node> | undefined): boolean => seen !== undefined && seen.metadata.uid !== uid;
      const again = await nodeUntil('is back', signal, isNew);
      assert.equal(again?.spec?.providerID, providerID);
      assert.ok(again?.spec?.taints?.some(({ key }) => key === 'tuist.dev/macos'));
      const isItsOwn = (seen: Live<Lease> | undefined): boolean =>
        seen?.metadata.ownerReferences?.some((owner) => owner.uid === again?.metadata.uid) === true;
      await leaseUntil('goes with the new Node', signal, isItsOwn);
    });

    test('a restarted agent has the same Node without its token, and sets a missing provider ID', async () => {
      await endAgent();
      await deleteJoinToken(admin, tokenID);
      await admin.delete(nodes, { name });
      await admin.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
      await startAgent();
      assert.equal((await node()).spec?.providerID, providerID);
      assert.equal(statusOf(await node(), 'Ready'), 'True');
    });

    test('no request of the agent was forbidden, and its log contains no secret', () => {
      assert.deepEqual(
        lines.filter((line) => /forbidden|refused/i.test(line)),
        [],
      );
      assert.deepEqual(
        lines.filter((line) => /PRIVATE KEY|Bearer/.test(line)),
        [],
      );
    });
  });
};
