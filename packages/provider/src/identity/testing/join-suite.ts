import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, randomBytes, randomUUID, X509Certificate } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import {
  certificateSigningRequests,
  type Client,
  configMaps,
  createClient,
  createInformer,
  createSubresources,
  httpsTransport,
  isKubeError,
  leases,
  type Live,
  loadConfig,
  nodes,
  secrets,
  type Transport,
} from '@tartan/kube';
import { microTimestamp, systemClock } from '@tartan/kube/clock';
import { clientRequests, createApprover, servingRequests } from '../csr/controller.ts';
import type { MacAddresses, MachineIdentity } from '../csr/observe.ts';
import type { CertificateRequest } from '../../controller-deps.ts';
import { identityIssuedFor, shouldRetireToken } from '../decide-join.ts';
import { clusterAddress, joinKubeconfig } from '../join-kubeconfig.ts';
import { deleteJoinToken, type JoinToken, mintJoinToken } from '../join-token.ts';
import { kubeletClientSigner, kubeletServingSigner, tokenSecretName } from '../names.ts';
import { isNodeOf } from '../../machine/observe/node.ts';
import { alternativeNames, generalName, makeCSR, subjectOf } from './make-csr.ts';
import { recordingLog, recordingTransport } from './recording.ts';

/** A cluster that Macs join, and its clients. */
export interface JoinableCluster {
  readonly url: string;
  readonly ca: string;
  /** May do anything. */
  readonly admin: Transport;
  /** Has only the rights of `rights.ts`. */
  readonly provider: Transport;
  /** The user of this token or certificate. */
  as(credentials: { token: string } | { cert: string; key: string }): Transport;
  close(): Promise<void>;
}

const options = { clock: systemClock };
type Keys = { publicKey: KeyObject; privateKey: KeyObject };
const newKeys = (): Keys => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = ({ privateKey }: Keys): string => privateKey.export({ format: 'pem', type: 'pkcs8' });

type Machine = Omit<MachineIdentity, 'node'>;
type Usage = 'client auth' | 'server auth' | 'digital signature';

/** Requests a client certificate and waits for the verdict, with an agent's rights. */
const ask = (client: Client, nodeName: string, keys: Keys, signal: AbortSignal) =>
  send(client, kubeletClientSigner, 'client auth', makeCSR({ subject: subjectOf(nodeName), keys }), signal);

/** The same for a serving certificate. */
const askToServe = (client: Client, nodeName: string, names: readonly Uint8Array[], signal: AbortSignal) => {
  const attributes = [alternativeNames(...names)];
  const request = makeCSR({ subject: subjectOf(nodeName), attributes, keys: newKeys() });
  return send(client, kubeletServingSigner, 'server auth', request, signal);
};

const create = (client: Client, signerName: string, purpose: Usage, request: string) =>
  client.create(certificateSigningRequests, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { generateName: 'tartan-test-' },
    spec: { request, signerName, usages: [purpose, 'digital signature'], expirationSeconds: 7 * 24 * 3600 },
  });

const send = async (client: Client, signerName: string, purpose: Usage, request: string, signal: AbortSignal) => {
  const created = await create(client, signerName, purpose, request);
  return outcomeOf(client, created, signal);
};

const outcomeOf = async (client: Client, { metadata: { name } }: Live<CertificateRequest>, signal: AbortSignal) => {
  const isOver = ({ status }: CertificateRequest): boolean =>
    status?.certificate !== undefined || (status?.conditions ?? []).some(({ type }) => type !== 'Approved');
  const selection = { fieldSelector: `metadata.name=${name}`, signal };
  for (;;) {
    const { items, resourceVersion } = await client.list(certificateSigningRequests, selection);
    const found = items.find(isOver);
    if (found) return found;
    for await (const event of client.watch(certificateSigningRequests, { ...selection, resourceVersion }))
      if (event.type !== 'BOOKMARK' && isOver(event.object)) return event.object;
  }
};

const verdictOf = ({ status }: Live<CertificateRequest>): string =>
  (status?.conditions ?? []).map(({ type, reason }) => `${type} ${reason}`).join(', ');

/** The verdict, or the error if the request was rejected. */
const answerOf = async (asking: Promise<Live<CertificateRequest>>): Promise<string> =>
  asking.then(verdictOf, (error: unknown) => (isKubeError(error) ? error.reason : String(error)));

const refusal = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'allowed',
    (error: unknown) => (isKubeError(error) ? error.reason : String(error)),
  );

/** The walk "a Mac joins", from the token to the Node, for any API server. */
export const runJoinSuite = (title: string, start: () => Promise<JoinableCluster>): void => {
  describe(title, { timeout: 120_000 }, () => {
    const suffix = randomUUID().slice(0, 8);
    const [mac, other] = [`mac-${suffix}`, `mac-other-${suffix}`];
    const linux = `linux-${suffix}`;
    const providerID = `scw-applesilicon://fr-par-1/${suffix}`;
    const known = (uid: string, more: Partial<Machine> = {}): Machine => ({
      uid,
      deleting: false,
      serverID: suffix,
      providerID,
      ...more,
    });
    const machines = new Map<string, Machine>([
      [mac, known('u1')],
      [other, known('u2')],
    ]);
    /** Reads the Node live, as the provider does. */
    const machineOf = async (name: string): Promise<MachineIdentity | undefined> => {
      const machine = machines.get(name);
      if (machine === undefined) return undefined;
      const { items } = await admin.list(nodes, { fieldSelector: `metadata.name=${name}` });
      const [node] = items;
      const isOurs = node !== undefined && isNodeOf(node, { providerID, address: undefined });
      return { ...machine, node: node === undefined ? 'absent' : isOurs ? 'ours' : 'foreign' };
    };
    /** For every Mac: a Node that exists, and an address from Scaleway. */
    const place: MacAddresses = {
      providerAddresses: ['192.0.2.7'],
      node: { kind: 'ours', internalAddresses: [] },
      tailnet: false,
      otherNodeAddresses: new Set(),
    };
    const { log, lines } = recordingLog();
    const seen: string[] = [];
    const stopping = new AbortController();
    const opened: Transport[] = [];
    let cluster: JoinableCluster;
    let admin: Client;
    let provider: Client;
    let asked: string[];
    let running: Promise<unknown>;
    let token: JoinToken;
    const macKeys = newKeys();
    let certificate = '';

    const clientAs = (who: Parameters<JoinableCluster['as']>[0]): Client => {
      const transport = cluster.as(who);
      opened.push(transport);
      return createClient(transport, options);
    };
    const note = <T>(object: T): T => {
      seen.push(JSON.stringify(object));
      return object;
    };

    before(async () => {
      cluster = await start();
      admin = createClient(cluster.admin, options);
      const recording = recordingTransport(cluster.provider);
      asked = recording.requests;
      provider = createClient(recording.transport, options);
      const cacheOf = (selection: { fieldSelector: string }) =>
        createInformer({
          client: provider,
          resource: certificateSigningRequests,
          ...selection,
          clock: systemClock,
          random: Math.random,
          log,
        });
      const requests = [cacheOf(clientRequests), cacheOf(servingRequests)];
      const approver = createApprover({
        subresources: createSubresources(recording.transport, options),
        machineOf,
        macAddressesOf: async () => place,
        requests,
        clock: systemClock,
        log,
      });
      running = Promise.all([...requests, approver].map((part) => part.run(stopping.signal)));
    });
    const tidyUp = async (): Promise<void> => {
      const { items } = await admin.list(certificateSigningRequests);
      for (const { metadata } of items.filter((each) => each.metadata.name.startsWith('tartan-test-')))
        await admin.delete(certificateSigningRequests, { name: metadata.name });
      const { tokenID } = machines.get(mac) ?? {};
      if (tokenID !== undefined) await deleteJoinToken(admin, tokenID);
      await admin.delete(leases, { namespace: 'kube-node-lease', name: mac }).catch(() => {});
      for (const name of [mac, linux]) await admin.delete(nodes, { name }).catch(() => {});
    };
    after(async () => {
      stopping.abort();
      await running;
      for (const transport of opened) transport.close();
      try {
        await tidyUp();
      } finally {
        await cluster.close();
      }
    });

    test('a token is created after its id was recorded', async () => {
      const secretOf = (id: string) => admin.get(secrets, { namespace: 'kube-system', name: tokenSecretName(id) });
      token = await mintJoinToken(provider, {
        machine: { namespace: 'default', name: mac, uid: 'u1' },
        record: async ({ tokenID, expiresAt }) => {
          assert.equal(await refusal(secretOf(tokenID)), 'notFound');
          machines.set(mac, known('u1', { tokenID, tokenExpiresAt: expiresAt }));
        },
        clock: systemClock,
        random: randomBytes,
        lifetimeMs: 3_600_000,
      });
      assert.equal((await secretOf(token.tokenID)).type, 'bootstrap.kubernetes.io/token');
      assert.equal(machines.get(mac)?.tokenID, token.tokenID);
    });

    test('the address comes from cluster-info', async () => {
      const server = 'https://api.example.com:6443';
      const text = `apiVersion: v1\nkind: Config\nclusters:\n- name: ""\n  cluster:\n    server: ${server}\n`;
      const metadata = { namespace: 'kube-public', name: 'cluster-info' };
      const made = await admin
        .create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { kubeconfig: text } })
        .catch(() => undefined);
      const found = await clusterAddress(provider, { ca: cluster.ca });
      if (made !== undefined) {
        assert.equal(found.server, server);
        await admin.delete(configMaps, metadata);
      }
      assert.equal(Buffer.from(found.caData ?? '', 'base64').toString(), cluster.ca);
    });

    test('the Mac exchanges the token for a client certificate of its Node, and uses it', async ({ signal }) => {
      const address = await clusterAddress(provider, { apiServerURL: cluster.url, ca: cluster.ca });
      const text = joinKubeconfig({ ...address, token, nodeName: mac });
      const config = await loadConfig({ env: {}, ...options, kubeconfigPath: '/join', readFile: async () => text });
      const transport = httpsTransport({ ...config, ...options });
      opened.push(transport);
      const joining = createClient(transport, options);
      const request = note(await ask(joining, mac, macKeys, signal));
      assert.equal(verdictOf(request), 'Approved MachineJoins');
      certificate = Buffer.from(request.status?.certificate ?? '', 'base64').toString();

      const node = clientAs({ cert: certificate, key: pem(macKeys) });
      await node.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: mac }, spec: { providerID } });
      assert.equal((await node.get(nodes, { name: mac })).metadata.name, mac);
      assert.equal(await refusal(node.list(secrets, { namespace: 'kube-system' })), 'forbidden');
    });

    test('the same token creates no other Node', async ({ signal }) => {
      const joining = clientAs({ token: token.reveal() });
      assert.equal(verdictOf(note(await ask(joining, other, newKeys(), signal))), 'Denied NotItsToken');
      assert.equal(verdictOf(note(await ask(joining, `no-${mac}`, newKeys(), signal))), 'Denied NoSuchMachine');
    });

    test('the Node renews its own certificate, and no other', async ({ signal }) => {
      const node = clientAs({ cert: certificate, key: pem(macKeys) });
      assert.equal(verdictOf(note(await ask(node, mac, newKeys(), signal))), 'Approved NodeRenewsItself');
      // NodeRestriction of Kubernetes 1.36 rejects such a request.
      const outcome = await answerOf(ask(node, other, newKeys(), signal).then(note));
      assert.ok(['Denied NotItself', 'forbidden'].includes(outcome), outcome);
    });

    test('the Node gets a serving certificate for its own address and no other', async ({ signal }) => {
      const node = clientAs({ cert: certificate, key: pem(macKeys) });
      const own = [generalName.ip(192, 0, 2, 7), generalName.dns(mac)];
      const request = note(await askToServe(node, mac, own, signal));
      assert.equal(verdictOf(request), 'Approved MachineServes');
      const served = new X509Certificate(Buffer.from(request.status?.certificate ?? '', 'base64'));
      assert.equal(served.subjectAltName, `DNS:${mac}, IP Address:192.0.2.7`);
      assert.deepEqual(served.keyUsage, ['1.3.6.1.5.5.7.3.1'], 'server auth');
      assert.ok(Date.parse(served.validTo) - systemClock.now() < 8 * 24 * 3_600_000);

      const wildcard = [...own, generalName.dns('*.example.com')];
      assert.equal(verdictOf(note(await askToServe(node, mac, wildcard, signal))), 'Denied NotItsName');
      const link = [...own, generalName.uri('spiffe://x')];
      assert.equal(verdictOf(note(await askToServe(node, mac, link, signal))), 'Denied ForeignNames');
      const outcome = await answerOf(askToServe(node, other, own, signal).then(note));
      assert.ok(['Denied NotItself', 'forbidden'].includes(outcome), outcome);
    });

    test('for a Node of the same name that is no Mac, its own requests are ignored and those of the Mac are denied', async ({
      signal,
    }) => {
      /** The controller manager approves what an administrator requests for a kubelet, and we leave it alone. */
      const kubelet = async (): Promise<Client> => {
        const keys = newKeys();
        const asked = makeCSR({ subject: subjectOf(linux), keys });
        const created = await create(admin, kubeletClientSigner, 'client auth', asked);
        const { status } = await outcomeOf(admin, created, signal);
        assert.deepEqual(
          status?.conditions?.map(({ reason }) => reason),
          ['AutoApproved'],
        );
        return clientAs({ cert: Buffer.from(status?.certificate ?? '', 'base64').toString(), key: pem(keys) });
      };
      machines.set(linux, known('u3', { tokenID: token.tokenID, tokenExpiresAt: token.expiresAt }));
      const joining = clientAs({ token: token.reveal() });
      for (const spec of [{ providerID: `aws:///eu-west-1a/${suffix}` }, {}]) {
        await admin.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: linux }, spec });
        const node = await kubelet();
        const renewal = await create(node, kubeletClientSigner, 'client auth', makeCSR({ subject: subjectOf(linux) }));
        const attributes = [alternativeNames(generalName.ip(192, 0, 2, 9))];
        const asked = makeCSR({ subject: subjectOf(linux), attributes });
        const serving = await create(node, kubeletServingSigner, 'server auth', asked);
        assert.equal(verdictOf(note(await ask(joining, linux, newKeys(), signal))), 'Denied NodeNameTaken');
        // Each approver has one worker and handles requests in order: after a later request has its verdict, these have been handled.
        const late = clientAs({ cert: certificate, key: pem(macKeys) });
        await askToServe(late, mac, [generalName.ip(192, 0, 2, 7)], signal);
        for (const { metadata } of [renewal, serving])
          assert.equal(verdictOf(await admin.get(certificateSigningRequests, { name: metadata.name })), '');
        await admin.delete(nodes, { name: linux });
      }
      machines.delete(linux);
    });

    test('the token is deleted after the Node has renewed its Lease', async ({ signal }) => {
      const issued = identityIssuedFor(token.tokenID, (await provider.list(certificateSigningRequests)).items);
      assert.equal(issued?.nodeName, mac);
      assert.equal(shouldRetireToken(undefined, issued), false);
      const name = { namespace: 'kube-node-lease', name: mac };
      await clientAs({ cert: certificate, key: pem(macKeys) }).create(leases, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: name,
        spec: { holderIdentity: mac, leaseDurationSeconds: 40, renewTime: microTimestamp(systemClock.now()) },
      });
      const { spec } = await provider.get(leases, name);
      const renewedAt = Date.parse(spec?.renewTime ?? '');
      assert.equal(shouldRetireToken({ nodeName: mac, renewedAt }, issued), true);

      await deleteJoinToken(provider, token.tokenID);
      await deleteJoinToken(provider, token.tokenID);
      machines.set(mac, known('u1'));
      // The API server caches a token for some seconds; the approver does not.
      const late = clientAs({ token: token.reveal() });
      const outcome = await answerOf(ask(late, mac, newKeys(), signal).then(note));
      assert.ok(['unauthorized', 'Denied NotItsToken'].includes(outcome), outcome);
    });

    test('a machine being deleted gets no certificate', async ({ signal }) => {
      machines.set(mac, known('u1', { deleting: true }));
      const node = clientAs({ cert: certificate, key: pem(macKeys) });
      assert.equal(verdictOf(note(await ask(node, mac, newKeys(), signal))), 'Denied MachineIsBeingDeleted');
      const serving = await askToServe(node, mac, [generalName.ip(192, 0, 2, 7)], signal);
      assert.equal(verdictOf(note(serving)), 'Denied MachineIsBeingDeleted');
    });

    test('the Node neither reads nor can read a Secret of kube-system', async () => {
      const touched = asked.filter((request) => request.includes('/secrets'));
      const one = `/api/v1/namespaces/kube-system/secrets/${tokenSecretName(token.tokenID)}`;
      assert.deepEqual(touched, ['POST /api/v1/namespaces/kube-system/secrets', `DELETE ${one}`, `DELETE ${one}`]);
      const name = { namespace: 'kube-system', name: tokenSecretName(token.tokenID) };
      assert.equal(await refusal(provider.get(secrets, name)), 'forbidden');
      assert.equal(await refusal(provider.list(secrets, { namespace: 'kube-system' })), 'forbidden');
    });

    test('no log line and no condition contains the token', () => {
      const secretHalf = token.reveal().slice(7);
      assert.ok(lines.some((line) => line.includes('is approved')) && seen.length > 0);
      for (const text of [...lines, ...seen]) assert.ok(!text.includes(secretHalf));
    });
  });
};
