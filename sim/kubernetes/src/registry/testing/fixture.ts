import { type ManualClock, manualClock } from '@tartan/kube/clock';
import type { User } from '../../authentication/user.ts';
import { allowAll } from '../../authorization/authorizer.ts';
import { ApiError } from '../../errors/api-error.ts';
import { jsonResponse } from '../../http-messages.ts';
import type { KubeObject } from '../../object.ts';
import type { ClusterPki } from '../../pki/pki.ts';
import type { Action, Resource } from '../../resource.ts';
import { memoryStorage } from '../../storage/memory.ts';
import { createLoopbackClient, type LoopbackClient } from '../../store/loopback-client.ts';
import type { Core } from '../../store/store.ts';
import { builtinResources } from '../builtin.ts';
import { createRegistry } from '../registry.ts';

/** The built-in kinds over an empty storage, for tests of single kinds. */
export interface Fixture {
  api: LoopbackClient;
  clock: ManualClock;
  /** `pods`, or `leases.coordination.k8s.io`. */
  resource(key: string): Resource;
  create(key: string, object: Body): KubeObject;
  update(key: string, object: KubeObject): KubeObject;
  act(key: string, subresource: string, name: string, body?: Body, dryRun?: boolean): Promise<unknown>;
}

/** An object as a client sends it. */
export interface Body {
  metadata?: Record<string, unknown>;
  [field: string]: unknown;
}

export const admin: User = { name: 'admin', groups: ['system:masters'] };
export const namespace = 'team';

const unused: Action = () => jsonResponse(200, {});

const identity = { caCertificate: '', issuer: 'https://kubernetes.default.svc' } as ClusterPki;

export const fixture = (): Fixture => {
  const clock = manualClock();
  let uid = 0;
  const core: Core = {
    clock,
    storage: memoryStorage(),
    random: () => 0,
    uuid: () => `uid-${++uid}`,
    registry: createRegistry(
      builtinResources({
        identity,
        kubelet: { log: unused, exec: unused, attach: unused, portforward: unused },
        token: unused,
        reviews: {},
      }),
    ),
  };
  const api = createLoopbackClient(core, allowAll);
  const resource = (key: string): Resource => {
    const [plural = '', ...group] = key.split('.');
    const found = api.find(group.join('.'), plural);
    if (!found) throw new Error(`${key} is not served`);
    return found;
  };
  const asObject = (
    { group, version, kind }: { group: string; version: string; kind: string },
    body: Body,
  ): KubeObject => ({
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind,
    ...structuredClone(body),
    metadata: { ...structuredClone(body.metadata ?? {}) } as unknown as KubeObject['metadata'],
  });
  const spaceOf = (found: Resource): string => (found.namespaced ? namespace : '');
  const made: Fixture = {
    api,
    clock,
    resource,
    create: (key, body) => api.create(resource(key), spaceOf(resource(key)), asObject(resource(key), body), admin),
    update: (key, object) => api.update(resource(key), spaceOf(resource(key)), structuredClone(object), admin),
    act: async (key, subresource, name, body, dryRun = false) => {
      const entry = resource(key).subresources.find((candidate) => candidate.name === subresource);
      if (!entry?.action) throw new Error(`${key}/${subresource} does nothing`);
      const answer = await entry.action({
        verb: 'create',
        name,
        namespace: spaceOf(resource(key)),
        rest: '',
        query: new URLSearchParams(),
        headers: {},
        signal: new AbortController().signal,
        body: body && asObject(entry, body),
        context: { api, user: admin, dryRun },
      });
      return answer.kind === 'answer' ? JSON.parse(String(answer.body)) : undefined;
    },
  };
  made.create('namespaces', { metadata: { name: namespace } });
  made.create('serviceaccounts', { metadata: { name: 'default' } });
  return made;
};

/** Why a write was refused: the causes as `field: message`, or else the message. */
export const rejection = async (write: () => unknown): Promise<string[]> => {
  try {
    await write();
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { causes } = error.status.details ?? {};
    const texts = causes?.map(({ field, message }) => `${field}: ${message}`) ?? [error.message];
    return [`${error.code}`, ...texts];
  }
};
