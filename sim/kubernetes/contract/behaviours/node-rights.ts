import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { newCertificateRequest } from '../certificate-request.ts';
import type { Answer } from '../cluster.ts';
import { refused } from '../expect.ts';
import { configMap, pod, secret } from '../objects.ts';
import { readyForPods } from '../pods.ts';
import { acting } from '../roles.ts';
import { read, readText } from '../read.ts';
import type { BehaviourContext } from '../behaviour-context.ts';

const nodes = '/api/v1/nodes';
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

interface Place {
  name: string;
  path: string;
  as: { headers: Record<string, string> };
}

const place = (context: BehaviourContext): Place => {
  const name = context.unique('mac');
  context.deleteAfterBehaviour(`${nodes}/${name}`);
  return { name, path: `${nodes}/${name}`, as: acting(`system:node:${name}`, 'system:nodes') };
};

const node = (name: string, metadata: object = {}, spec: object = {}): Record<string, unknown> => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, ...metadata },
  spec,
});

const forbidden = (answer: Answer, message: string): void =>
  refused(answer, { code: 403, reason: 'Forbidden', message });

const succeeded = (answer: Answer): Answer => {
  assert.ok(answer.code < 300, `${answer.code} ${answer.text}`);
  return answer;
};

/** A Pod on that Node. The real server's authorizer learns of it a moment later. */
const podOn = async (
  context: BehaviourContext,
  { name, as }: Place,
  podName: string,
  spec: object = {},
): Promise<string> => {
  const path = `${await readyForPods(context)}/${podName}`;
  await context.create(await context.collection('pods'), pod(podName, { nodeName: name, ...spec }));
  await context.eventually('the Pod to be known as its Node’s', async () => {
    const answer = await context.get(path, as);
    return answer.code === 200 ? answer : undefined;
  });
  return path;
};

export const nodeRights = topic('rights of a Node', [
  behaviour('a Node can create itself with labels, taint and providerID, and no other Node', async (context) => {
    const { name, as } = place(context);
    const made = node(
      name,
      { labels: { 'example.com/fleet': 'a', 'kubernetes.io/os': 'darwin', 'node.kubernetes.io/x': 'y' } },
      { providerID: 'example:///1', taints: [{ key: 'example.com/macos', value: 'true', effect: 'NoSchedule' }] },
    );
    assert.equal(succeeded(await context.post(nodes, made, as)).code, 201);
    forbidden(
      await context.post(nodes, node('another'), as),
      `nodes "another" is forbidden: node "${name}" is not allowed to modify node "another"`,
    );
  }),

  behaviour('a Node cannot register with labels that attract Pods', async (context) => {
    const { name, as } = place(context);
    const labels = {
      'node-restriction.kubernetes.io/tier': 'a',
      'sub.node-restriction.kubernetes.io/tier': 'a',
      'kubernetes.io/role': 'b',
      'x.k8s.io/y': 'c',
      'example.com/fine': 'd',
    };
    forbidden(
      await context.post(nodes, node(name, { labels }), as),
      `nodes "${name}" is forbidden: node "${name}" is not allowed to set the following labels: kubernetes.io/role, node-restriction.kubernetes.io/tier, sub.node-restriction.kubernetes.io/tier, x.k8s.io/y`,
    );
  }),

  behaviour(
    'a Node can change its own labels and status, but not taints, owners and labels of others',
    async (context) => {
      const { name, path, as } = place(context);
      await context.post(nodes, node(name), as);
      const change = (body: object, at = path): Promise<Answer> => context.patch(at, 'merge', body, as);
      succeeded(await change({ metadata: { labels: { 'example.com/golden': 'x' } } }));
      succeeded(await change({ metadata: { labels: { 'example.com/golden': null } } }));
      succeeded(await change({ metadata: { annotations: { 'example.com/a': 'b' } } }));
      succeeded(await change({ status: { phase: 'Running' } }, `${path}/status`));
      const why = (what: string): string => `nodes "${name}" is forbidden: ${what}`;
      const taints = [{ key: 'example.com/t', effect: 'NoSchedule' }];
      forbidden(await change({ spec: { taints } }), why(`node "${name}" is not allowed to modify taints`));
      forbidden(
        await change({ metadata: { labels: { 'node-restriction.kubernetes.io/a': 'b' } } }),
        why('is not allowed to modify labels: node-restriction.kubernetes.io/a'),
      );
      const owner = { apiVersion: 'v1', kind: 'Node', name: 'x', uid: 'y' };
      forbidden(
        await change({ metadata: { ownerReferences: [owner] } }),
        why(`node "${name}" is not allowed to modify ownerReferences`),
      );
      const bare = await context.put(`${path}/status`, node(name), as);
      assert.ok(bare.code === 200 || readText(bare.json, 'message').includes('taints'), bare.text);
    },
  ),

  behaviour('a Node cannot change other Nodes, and cannot delete itself', async (context) => {
    const { name, path, as } = place(context);
    const other = place(context);
    await context.create(nodes, node(other.name));
    await context.create(nodes, node(name));
    const body = { metadata: { labels: { 'example.com/a': 'b' } } };
    forbidden(
      await context.patch(other.path, 'merge', body, as),
      `nodes "${other.name}" is forbidden: node "${name}" is not allowed to modify node "${other.name}"`,
    );
    const user = `User "system:node:${name}"`;
    forbidden(
      await context.get(other.path, as),
      `nodes "${other.name}" is forbidden: ${user} cannot get resource "nodes" in API group "" at the cluster scope: node '${name}' cannot read '${other.name}', only its own Node object`,
    );
    forbidden(
      await context.get(nodes, as),
      `nodes is forbidden: ${user} cannot list resource "nodes" in API group "" at the cluster scope: node '${name}' cannot read all nodes, only its own Node object`,
    );
    succeeded(await context.get(path, as));
    succeeded(await context.get(`${nodes}?fieldSelector=metadata.name%3D${name}`, as));
    forbidden(
      await context.delete(path, undefined, as),
      `nodes "${name}" is forbidden: ${user} cannot delete resource "nodes" in API group "" at the cluster scope`,
    );
  }),

  behaviour('a Node can write only the Lease with its own name', async (context) => {
    const { name, as } = place(context);
    const lease = (of: string): object => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: of },
    });
    context.deleteAfterBehaviour(`${leases}/${name}`);
    succeeded(await context.post(leases, lease(name), as));
    succeeded(await context.patch(`${leases}/${name}`, 'merge', { spec: { holderIdentity: name } }, as));
    const only = 'can only access node lease with the same name as the requesting node';
    forbidden(
      await context.post(leases, lease('another'), as),
      `leases.coordination.k8s.io "another" is forbidden: ${only}`,
    );
    const user = `User "system:node:${name}"`;
    forbidden(
      await context.get(`${leases}/another`, as),
      `leases.coordination.k8s.io "another" is forbidden: ${user} cannot get resource "leases" in API group "coordination.k8s.io" in the namespace "kube-node-lease": ${only}`,
    );
    refused(await context.get(leases, as), {
      code: 403,
      message: /can only get, create, update, patch, or delete a node lease$/,
    });
    const here = await context.collection('leases', 'coordination.k8s.io/v1');
    refused(await context.post(here, lease(name), as), {
      code: 403,
      message: /can only access leases in the "kube-node-lease" system namespace$/,
    });
  }),

  behaviour('a Node can list its own Pods, and read those bound to it', async (context) => {
    const mac = place(context);
    const { name, as } = mac;
    const path = await podOn(context, mac, 'a');
    const unbound = `${await context.collection('pods')}/b`;
    await context.create(await context.collection('pods'), pod('b'));
    succeeded(await context.get(`/api/v1/pods?fieldSelector=spec.nodeName%3D${name}`, as));
    succeeded(await context.get(`${path.replace(/\/a$/, '')}?fieldSelector=spec.nodeName%3D${name}`, as));
    const user = `User "system:node:${name}"`;
    for (const query of ['', '?fieldSelector=spec.nodeName%3Danother', `?fieldSelector=spec.nodeName!%3D${name}`])
      forbidden(
        await context.get(`/api/v1/pods${query}`, as),
        `pods is forbidden: ${user} cannot list resource "pods" in API group "" at the cluster scope: can only list/watch pods with spec.nodeName field selector`,
      );
    refused(await context.get(unbound, as), {
      code: 403,
      message: new RegExp(`no relationship found between node '${name}' and this object$`),
    });
  }),

  behaviour(
    'a Node can write finalizers, annotations and status through pods/status, and nothing else of a Pod',
    async (context) => {
      const mac = place(context);
      const path = await podOn(context, mac, 'a');
      const { name, as } = mac;
      const metadata = { finalizers: ['example.com/vm'], annotations: { 'example.com/a': 'b' } };
      const status = { phase: 'Running', message: 'here' };
      succeeded(await context.patch(`${path}/status`, 'merge', { metadata, status }, as));
      const stored = await context.fetch(path);
      assert.deepEqual(read(stored, 'metadata.finalizers'), ['example.com/vm']);
      assert.deepEqual(read(stored, 'metadata.annotations'), { 'example.com/a': 'b' });
      assert.equal(read(stored, 'status.message'), 'here');
      forbidden(
        await context.patch(`${path}/status`, 'merge', { metadata: { labels: { a: 'b' } } }, as),
        `pods "a" is forbidden: node "${name}" cannot update labels through pod status`,
      );
      assert.equal((await context.patch(path, 'merge', { metadata: { labels: { a: 'b' } } }, as)).code, 403);
      assert.equal((await context.get(`${path}/status`, as)).code, 403);
      await context.create(await context.collection('pods'), pod('b'));
      forbidden(
        await context.patch(`${path.replace(/a$/, 'b')}/status`, 'merge', { status: { message: 'x' } }, as),
        `pods "b" is forbidden: node "${name}" can only update pod status for pods with spec.nodeName set to itself`,
      );
      const gone = await context.delete(path, { gracePeriodSeconds: 0 }, as);
      assert.equal(succeeded(gone).code, 200);
      assert.equal(readText(await context.fetch(path), 'metadata.name'), 'a');
      succeeded(await context.patch(`${path}/status`, 'merge', { metadata: { finalizers: null } }, as));
      await context.waitFor(path, (object) => object === undefined);
    },
  ),

  behaviour('a Node can delete and evict its own Pods only', async (context) => {
    const mac = place(context);
    const { name, as } = mac;
    const path = await podOn(context, mac, 'a');
    await context.create(await context.collection('pods'), pod('b'));
    const other = path.replace(/a$/, 'b');
    // The server reads the Pod from a cache, which may lag.
    const refusal = await context.eventually('the Pod to be known', async () => {
      const answer = await context.delete(other, undefined, as);
      return answer.code === 404 ? undefined : answer;
    });
    forbidden(refusal, `pods "b" is forbidden: node "${name}" can only delete pods with spec.nodeName set to itself`);
    const eviction = (of: string): object => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: of } });
    forbidden(
      await context.post(`${other}/eviction`, eviction('b'), as),
      `pods "b" is forbidden: node ${name} can only evict pods with spec.nodeName set to itself`,
    );
    refused(await context.delete(path.replace(/a$/, 'none'), undefined, as), { code: 404 });
    succeeded(await context.delete(path, { gracePeriodSeconds: 0 }, as));
  }),

  behaviour('a Node can create mirror Pods for itself only', async (context) => {
    const { name, as } = place(context);
    const uid = readText(await context.create(nodes, node(name)), 'metadata.uid');
    const pods = await readyForPods(context);
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid, controller: true };
    const mirror = (metadata: object = {}, spec: object = {}): Record<string, unknown> => {
      const bare = { serviceAccountName: undefined, automountServiceAccountToken: false };
      const annotations = { 'kubernetes.io/config.mirror': 'hash' };
      const full = { name: 'm', annotations, ownerReferences: [owner], ...metadata };
      return { ...pod('m', { nodeName: name, ...bare, ...spec }), metadata: full };
    };
    const why = (what: string): string => `pods "m" is forbidden: ${what}`;
    const only = (what: string): string => why(`node "${name}" can only create pods with ${what} set to itself`);
    const refusals: [object, string][] = [
      [
        mirror({ annotations: {} }),
        why(`pod does not have "kubernetes.io/config.mirror" annotation, node "${name}" can only create mirror pods`),
      ],
      [mirror({}, { nodeName: 'another' }), only('spec.nodeName')],
      [mirror({ ownerReferences: [] }), only('an owner reference')],
      [mirror({ ownerReferences: [{ ...owner, name: 'another' }] }), only('an owner reference')],
      [mirror({ ownerReferences: [owner, { ...owner, uid: 'x' }] }), only('a single owner reference')],
      [mirror({ ownerReferences: [{ ...owner, controller: false }] }), only('a controller owner reference')],
      [
        mirror({ ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }),
        why(`node "${name}" must not set blockOwnerDeletion on an owner reference`),
      ],
      [
        mirror({}, { volumes: [{ name: 'v', secret: { secretName: 's' } }] }),
        why('a mirror pod may not reference secrets'),
      ],
      [
        mirror({}, { volumes: [{ name: 'v', configMap: { name: 's' } }] }),
        why(`node "${name}" can not create pods that reference configmaps`),
      ],
      [
        mirror({}, { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 's' } }] }),
        why(`node "${name}" can not create pods that reference persistentvolumeclaims`),
      ],
    ];
    for (const [body, message] of refusals) forbidden(await context.post(pods, body, as), message);
    await context.eventually('the Node to be known', async () => {
      const answer = await context.post(pods, mirror(), as);
      return answer.code === 201 ? answer : undefined;
    });
  }),

  behaviour('a Node can read Secrets and ConfigMaps while its Pods refer to them', async (context) => {
    const mac = place(context);
    const { name, as } = mac;
    const [secrets, maps] = [await context.collection('secrets'), await context.collection('configmaps')];
    for (const each of ['pulled', 'env', 'volume', 'stray']) await context.create(secrets, secret(each));
    for (const each of ['env', 'volume', 'stray']) await context.create(maps, configMap(each));
    const [container] = [{ name: 'main', image: 'registry.example/mac:1' }];
    const path = await podOn(context, mac, 'a', {
      imagePullSecrets: [{ name: 'pulled' }],
      containers: [
        {
          ...container,
          envFrom: [{ secretRef: { name: 'env' } }],
          env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'env', key: 'k', optional: true } } }],
        },
      ],
      volumes: [
        { name: 's', projected: { sources: [{ secret: { name: 'volume' } }] } },
        { name: 'c', configMap: { name: 'volume' } },
      ],
    });
    for (const each of ['pulled', 'env', 'volume']) succeeded(await context.get(`${secrets}/${each}`, as));
    for (const each of ['env', 'volume']) succeeded(await context.get(`${maps}/${each}`, as));
    succeeded(await context.get(`${secrets}?fieldSelector=metadata.name%3Denv`, as));
    const namespace = await context.namespace();
    const user = `User "system:node:${name}"`;
    const unrelated = `no relationship found between node '${name}' and this object`;
    forbidden(
      await context.get(`${secrets}/stray`, as),
      `secrets "stray" is forbidden: ${user} cannot get resource "secrets" in API group "" in the namespace "${namespace}": ${unrelated}`,
    );
    forbidden(
      await context.get(`${maps}/stray`, as),
      `configmaps "stray" is forbidden: ${user} cannot get resource "configmaps" in API group "" in the namespace "${namespace}": ${unrelated}`,
    );
    refused(await context.get(secrets, as), { code: 403, message: /No Object name found$/ });
    refused(await context.get('/api/v1/secrets', as), {
      code: 403,
      message: /can only read namespaced object of this type$/,
    });
    refused(await context.delete(`${secrets}/env`, undefined, as), {
      code: 403,
      message: /can only read resources of this type$/,
    });
    const elsewhere = place(context);
    assert.equal((await context.get(`${secrets}/env`, elsewhere.as)).code, 403);
    await context.remove(path, { gracePeriodSeconds: 0 });
    await context.eventually('the Pod to be forgotten', async () => {
      const answer = await context.get(`${secrets}/env`, as);
      return answer.code === 403 ? answer : undefined;
    });
  }),

  behaviour('a Node can get tokens for the service accounts of its Pods', async (context) => {
    const mac = place(context);
    const path = await podOn(context, mac, 'a');
    const accounts = await context.collection('serviceaccounts');
    await context.create(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'stray' } });
    const uid = readText(await context.fetch(path), 'metadata.uid');
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'a', uid } },
    };
    assert.equal(succeeded(await context.post(`${accounts}/default/token`, request, mac.as)).code, 201);
    succeeded(await context.get(`${accounts}/default`, mac.as));
    for (const answer of [
      await context.post(`${accounts}/stray/token`, request, mac.as),
      await context.get(`${accounts}/stray`, mac.as),
    ])
      refused(answer, { code: 403, message: /no relationship found between node/ });
  }),

  behaviour('a Node can request certificates for its own name only', async (context) => {
    const { name, as } = place(context);
    const ask = async (commonName: string): Promise<Answer> => {
      const { request } = await newCertificateRequest(commonName, ['system:nodes']);
      const metadata = { name: context.unique('csr') };
      context.deleteAfterBehaviour(`/apis/certificates.k8s.io/v1/certificatesigningrequests/${metadata.name}`);
      return context.post(
        '/apis/certificates.k8s.io/v1/certificatesigningrequests',
        {
          apiVersion: 'certificates.k8s.io/v1',
          kind: 'CertificateSigningRequest',
          metadata,
          spec: { request, signerName: 'kubernetes.io/kube-apiserver-client-kubelet', usages: ['client auth'] },
        },
        as,
      );
    };
    succeeded(await ask(`system:node:${name}`));
    refused(await ask('system:node:another'), {
      code: 403,
      message: new RegExp(`can only create a node CSR with CN=system:node:${name}$`),
    });
  }),

  behaviour('a Node has no rights on other resources by its role', async (context) => {
    const { name, as } = place(context);
    for (const path of ['/api/v1/namespaces', '/api/v1/configmaps', '/apis/rbac.authorization.k8s.io/v1/roles'])
      assert.equal((await context.get(path, as)).code, 403, path);
    succeeded(await context.get('/api', as));
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: context.unique('event'), namespace: 'default' },
      involvedObject: { kind: 'Node', name, namespace: 'default' },
      reason: 'Test',
    };
    succeeded(await context.post('/api/v1/namespaces/default/events', event, as));
    forbidden(
      await context.get('/api/v1/pods', acting('system:node:', 'system:nodes')),
      'pods is forbidden: User "system:node:" cannot list resource "pods" in API group "" at the cluster scope: unknown node for user "system:node:"',
    );
  }),
]);
