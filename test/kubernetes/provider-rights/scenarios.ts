import assert from 'node:assert/strict';
import {
  annotations,
  cluster as infraCluster,
  externalControlPlane,
  finalizers,
  formatProviderID,
  labels,
  labelValues,
  macFleet,
  machine,
  macHost,
  remoteServiceAccount,
  secretKeys,
  secretNames,
} from '@tartan/api';
import {
  certificateSigningRequests,
  createClient,
  defineResource,
  deployments,
  getCondition,
  ignoreNotFound,
  type KubeObject,
  leases,
  nodes,
  pods,
  secrets,
  serviceAccounts,
} from '@tartan/kube';
import { type ManualClock, microTimestamp, systemClock } from '@tartan/kube/clock';
import { coreClusters } from '@tartan/provider';
import { coreMachineDeployments } from '../../../packages/provider/src/core/kinds.ts';
import { clusterMember } from '../../../packages/provider/src/core/testing/cluster-member.ts';
import { kubeletClientSigner, kubeletServingSigner } from '../../../packages/provider/src/identity/names.ts';
import {
  alternativeNames,
  generalName,
  makeCSR,
  subjectOf,
} from '../../../packages/provider/src/identity/testing/make-csr.ts';
import { doneOutcome } from '../../../packages/provider/src/machine/testing/fakes.ts';
import { namespace } from '../../../packages/provider/src/manager/testing/harness.ts';
import { type PreparedCluster, type RunningManager, serverID, spread, strayID } from './harness.ts';

const core = 'cluster.x-k8s.io/v1beta2';
const coreMachines = defineResource<KubeObject>({
  group: 'cluster.x-k8s.io',
  version: 'v1beta2',
  kind: 'Machine',
  plural: 'machines',
  namespaced: true,
});
const machineDeployments = coreMachineDeployments('v1beta2');
const mac = { namespace, name: 'mac-1' };
const kubeconfig = { namespace, name: secretNames.kubeconfig('macs') };
const merge = (body: object) => ({ type: 'merge', body }) as const;
const gone = async (found: Promise<unknown>): Promise<true | undefined> =>
  (await ignoreNotFound(found)) === undefined ? true : undefined;

/** Every kind of request that the manager sends to the API server, caused by users, core and Macs. */
export const scenariosOf = ({ client, as, plane, scaleway, eventually }: PreparedCluster) => {
  const statusOf = async () => (await client.get(machine.resource, mac)).status;
  const markReady = (hash: string) =>
    client.patch(
      nodes,
      { name: mac.name },
      merge({ metadata: { annotations: { [annotations.hostConfigHash]: hash } } }),
    );
  const setPhase = (name: string, phase: string) =>
    client.patch(pods, { namespace, name }, merge({ status: { phase } }), { subresource: 'status' });
  const addPod = (name: string, nodeName: string) =>
    client.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, name, finalizers: [finalizers.vmCleanup] },
      spec: { nodeName, containers: [{ name: 'vm', image: 'macos' }] },
    });
  const provide = (token: string) => {
    const config = { clusters: [{ cluster: { server: 'https://x' } }], 'current-context': token };
    const value = Buffer.from(JSON.stringify(config)).toString('base64');
    return client.patch(secrets, kubeconfig, merge({ data: { [secretKeys.kubeconfig]: value } }));
  };
  const setMode = (mode: string) =>
    client.patch(externalControlPlane.resource, { namespace, name: 'macs' }, merge({ spec: { kubeconfig: mode } }));
  /** Absent for a moment while the manager replaces it. */
  const isOurs = async () => {
    const secret = await ignoreNotFound(client.get(secrets, kubeconfig));
    if (secret === undefined || secret.immutable === true) return undefined;
    return annotations.kubeconfigToken in (secret.metadata.annotations ?? {}) || undefined;
  };

  return {
    kubeconfig: async () => {
      const account = { name: remoteServiceAccount, namespace };
      await client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
      const metadata = { name: 'macs', namespace };
      const cluster = await client.create(coreClusters('v1beta2'), { apiVersion: core, kind: 'Cluster', metadata });
      const provisioned = merge({ status: { initialization: { infrastructureProvisioned: true } } });
      await client.patch(coreClusters('v1beta2'), metadata, provisioned, { subresource: 'status' });
      const ownerReferences = [{ apiVersion: core, kind: 'Cluster', name: 'macs', uid: cluster.metadata.uid }];
      await client.create(
        externalControlPlane.resource,
        externalControlPlane.make({ metadata: { ...metadata, ownerReferences } }),
      );
      await client.create(infraCluster.resource, infraCluster.make({ metadata: { ...metadata, ownerReferences } }));
      await eventually(() => ignoreNotFound(client.get(secrets, kubeconfig)));
      // Damaged, then damaged and immutable: the manager overwrites it, then replaces it.
      await client.patch(secrets, kubeconfig, merge({ data: null }));
      await eventually(isOurs);
      await client.patch(secrets, kubeconfig, merge({ immutable: true, metadata: { annotations: null } }));
      await eventually(isOurs);
      // Handed over twice, with the same event twice.
      for (const token of ['a', 'b']) {
        await setMode('Provided');
        await provide(token);
        await eventually(async () => ((await isOurs()) ? undefined : true));
        await setMode('Minted');
        await eventually(isOurs);
      }
    },

    /** Claimed, provisioned, and joined: with its own token, its own certificates and its own Lease. */
    joins: async ({ work }: RunningManager) => {
      const owner = await client.create(coreMachines, { apiVersion: core, kind: 'Machine', metadata: mac });
      const ownerReferences = [{ apiVersion: core, kind: 'Machine', name: mac.name, uid: owner.metadata.uid }];
      const metadata = { ...mac, labels: { [labels.clusterName]: 'macs' }, ownerReferences };
      await client.create(machine.resource, machine.make({ metadata, spec: { fleetName: 'runners' } }));
      await eventually(async () => (await statusOf())?.initialization?.provisioned);
      const task = work.jobs.at(-1)?.task;
      assert.ok(task?.kind === 'converge');
      const [token] = /[a-z0-9]{6}\.[a-z0-9]{16}/.exec(task.secrets.joinKubeconfig ?? '') ?? assert.fail('no token');
      const spec = {
        request: makeCSR({ subject: subjectOf(mac.name) }),
        signerName: kubeletClientSigner,
        usages: ['client auth', 'digital signature'] as const,
        expirationSeconds: 3600,
      };
      const request = { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' } as const;
      const joining = createClient(as({ token }), { clock: systemClock });
      await joining.create(certificateSigningRequests, {
        ...request,
        metadata: { name: 'joins' },
        spec: { ...spec, usages: [...spec.usages] },
      });
      await eventually(async () => {
        const { status } = await client.get(certificateSigningRequests, { name: 'joins' });
        return status?.certificate;
      });
      const providerID = formatProviderID({ zone: 'fr-par-1', serverID });
      const has = { [labels.runtime]: labelValues.runtime, [labels.os]: labelValues.os, [labels.fleet]: 'runners' };
      await client.create(nodes, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: mac.name, labels: has },
        spec: { providerID },
      });
      const conditions = [{ type: 'Ready', status: 'True' }];
      await client.patch(nodes, { name: mac.name }, merge({ status: { conditions } }), { subresource: 'status' });
      await client.create(leases, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { namespace: 'kube-node-lease', name: mac.name },
        spec: { holderIdentity: mac.name, leaseDurationSeconds: 600, renewTime: microTimestamp(systemClock.now()) },
      });
      await eventually(async () => ((await statusOf())?.joinTokenID === undefined ? true : undefined));
      await eventually(async () => (await statusOf())?.ready || undefined);
      await client.get(macFleet.resource, { namespace, name: 'runners' });

      const issued = await plane.issue({ user: `system:node:${mac.name}`, groups: ['system:nodes'] });
      const node = createClient(as({ cert: issued.certificate, key: issued.key }), { clock: systemClock });
      const names = alternativeNames(generalName.ip(192, 0, 2, 7), generalName.dns(mac.name));
      await node.create(certificateSigningRequests, {
        ...request,
        metadata: { name: 'serves' },
        spec: {
          ...spec,
          request: makeCSR({ subject: subjectOf(mac.name), attributes: [names] }),
          signerName: kubeletServingSigner,
          usages: ['server auth', 'digital signature'],
        },
      });
      await eventually(async () => {
        const { status } = await client.get(certificateSigningRequests, { name: 'serves' });
        return status?.conditions?.find(({ type }) => type === 'Approved');
      });
    },

    /** Machines with the name of a Linux node get neither a Mac nor the node's identity, and the requests of its kubelet are ignored. */
    namesakes: async () => {
      const linux = 'linux-1';
      const providerID = 'aws:///eu-west-1a/i-0123456789abcdef0';
      await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: linux }, spec: { providerID } });
      const reasonOf = async (at: typeof mac, type: string): Promise<string | undefined> =>
        getCondition((await client.get(machine.resource, at)).status?.conditions, type)?.reason;
      const [here, elsewhere] = [namespace, 'default'].map((each) => ({ namespace: each, name: linux }));
      assert.ok(here && elsewhere);
      for (const at of [elsewhere, here]) {
        const metadata = { ...at, ...(at === here && (await clusterMember(client, at))) };
        await client.create(machine.resource, machine.make({ metadata, spec: { fleetName: 'runners', providerID } }));
      }
      await eventually(async () => (await reasonOf(elsewhere, 'Allowed')) === 'NamespaceNotAllowed' || undefined);
      await eventually(async () => (await reasonOf(here, 'Provisioned')) === 'NodeNameTaken' || undefined);
      const renew = async (name: string) => {
        const { certificate: cert, key } = await plane.issue({ user: `system:node:${name}`, groups: ['system:nodes'] });
        const { metadata } = await createClient(as({ cert, key }), { clock: systemClock }).create(
          certificateSigningRequests,
          {
            apiVersion: 'certificates.k8s.io/v1',
            kind: 'CertificateSigningRequest',
            metadata: { name: `renews-${name}` },
            spec: {
              request: makeCSR({ subject: subjectOf(name) }),
              signerName: kubeletClientSigner,
              usages: ['client auth', 'digital signature'],
              // Linux kubelets do not set the duration.
              ...(name === mac.name && { expirationSeconds: 3600 }),
            },
          },
        );
        return async () => (await client.get(certificateSigningRequests, metadata)).status?.conditions;
      };
      const ofLinux = await renew(linux);
      const ofMac = await renew(mac.name);
      // The manager processes them in order.
      const [verdict] = await eventually(ofMac);
      assert.equal(verdict?.reason, 'NodeRenewsItself');
      assert.equal(await ofLinux(), undefined);
      for (const at of [elsewhere, here]) {
        await client.delete(machine.resource, at);
        await eventually(() => gone(client.get(machine.resource, at)));
      }
      await client.delete(nodes, { name: linux });
    },

    /** A fleet whose number of machines is recorded. */
    scales: async () => {
      const name = { namespace, name: 'scaled' };
      const metadata = { ...name, labels: { [labels.fleet]: name.name } };
      await client.create(machineDeployments, {
        apiVersion: core,
        kind: 'MachineDeployment',
        metadata,
        spec: { replicas: 0 },
      });
      await client.create(macFleet.resource, macFleet.make({ metadata: name, spec: { replicas: 0 } }));
      await eventually(async () => {
        const found = await client.get(machineDeployments, name);
        return found.metadata.annotations?.[annotations.appliedReplicas];
      });
      await client.delete(machineDeployments, name);
      await client.delete(macFleet.resource, name);
    },

    /** Another agent, which requires an idle Mac: a cordon, and its end. */
    rolls: async ({ work }: RunningManager) => {
      const before = (await statusOf())?.hostConfigHash;
      await eventually(async () => {
        const { desiredHostConfigHash: wanted } = (await statusOf()) ?? {};
        return wanted === before ? undefined : wanted;
      });
      const isCordoned = async () => (await client.get(nodes, { name: mac.name })).spec?.unschedulable;
      await eventually(isCordoned);
      await setPhase('job', 'Succeeded');
      await eventually(async () => {
        const last = work.jobs.at(-1)?.task;
        return last?.kind === 'converge' && last.idle ? true : undefined;
      });
      await eventually(async () => {
        const { hostConfigHash, desiredHostConfigHash = '' } = (await statusOf()) ?? {};
        if (hostConfigHash !== desiredHostConfigHash) return undefined;
        await markReady(desiredHostConfigHash);
        return (await isCordoned()) ? undefined : true;
      });
    },
    /** What the next push encounters, and a Pod for which it waits. */
    busy: async ({ work }: RunningManager) => {
      const deferred = [{ step: 'a', reason: 'the host is not idle' }];
      work.next(async (job) => doneOutcome(job, { summary: 'half', deferred }));
    },
    startJob: async () => {
      await addPod('job', mac.name);
      await setPhase('job', 'Running');
    },

    /** Core drains: the job has ended, and its Pod would block the drain. Another Pod is held by a Mac that is gone. */
    pods: async (clock: ManualClock) => {
      await addPod('stuck', 'ghost');
      await client.delete(pods, { namespace, name: 'stuck' }, { gracePeriodSeconds: 0 });
      await client.patch(coreMachines, mac, merge({ metadata: { finalizers: ['example.com/drain'] } }));
      await client.delete(coreMachines, mac);
      await client.patch(nodes, { name: mac.name }, merge({ spec: { unschedulable: true } }));
      const onward = () => clock.advance(5_000);
      await eventually(async () => {
        const pod = await ignoreNotFound(client.get(pods, { namespace, name: 'job' }));
        return pod === undefined || pod.metadata.deletionTimestamp !== undefined ? true : undefined;
      }, onward);
      await eventually(() => gone(client.get(pods, { namespace, name: 'stuck' })), onward);
      await eventually(async () => {
        const { spec } = await client.get(deployments, spread);
        return spec?.template.metadata?.annotations?.[annotations.fleetHash];
      }, onward);
    },

    leaves: async () => {
      await client.delete(machine.resource, mac);
      await eventually(() => gone(client.get(machine.resource, mac)));
      assert.ok(await gone(client.get(nodes, { name: mac.name })));
      assert.ok(await gone(client.get(secrets, { namespace, name: secretNames.machine(mac.name) })));
      await eventually(
        async () => (await client.get(macHost.resource, { name: serverID })).status?.state === 'pool' || undefined,
      );
      await eventually(() => gone(client.get(macFleet.resource, { namespace, name: 'runners' })));
    },

    /** A Mac without a machine is found and put back into the pool; a Mac that Scaleway no longer lists is forgotten. */
    swept: async () => {
      scaleway.stray = true;
      const stray = () => ignoreNotFound(client.get(macHost.resource, { name: strayID }));
      await eventually(async () => (await stray())?.status?.state === 'pool' || undefined);
      scaleway.stray = false;
      await eventually(async () => ((await stray()) === undefined ? true : undefined));
    },
  };
};
