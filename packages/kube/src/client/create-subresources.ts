import type { IScale } from 'kubernetes-models/autoscaling/v1/Scale';
import type { ICertificateSigningRequest } from 'kubernetes-models/certificates.k8s.io/v1/CertificateSigningRequest';
import { isRecord, textIn } from '../errors/json.ts';
import { KubeError } from '../errors/kube-error.ts';
import { certificateSigningRequests, pods, serviceAccounts } from '../objects/builtin.ts';
import type { KubeObject, Live, ObjectName } from '../objects/object.ts';
import { defineResource, type Resource } from '../objects/resource.ts';
import type { Transport } from '../transport/transport.ts';
import { type Caller, type ClientOptions, createCaller } from './caller.ts';
import type { CallOptions } from './client.ts';
import { clientOn } from './create-client.ts';
import { execInPod } from './exec.ts';
import { parseObject } from './parse-object.ts';
import { describe, pathOf } from './path.ts';
import type { LogOptions, Subresources, Token, Verdict } from './subresources.ts';
import { deleteBody, writeQuery } from './write-options.ts';

const scales = defineResource<IScale>({
  group: 'autoscaling',
  version: 'v1',
  kind: 'Scale',
  plural: 'scales',
  namespaced: true,
});

/** POST to a subresource that answers with anything but the object. */
const post = async <T extends KubeObject>(
  caller: Caller,
  resource: Resource<T>,
  target: ObjectName & { subresource: string },
  body: object,
  options: CallOptions,
): Promise<unknown> => {
  const what = describe('create', resource, target);
  return caller.ask({ what, method: 'POST', path: pathOf(what, resource, target, writeQuery({})), body }, options);
};

const tokenIn = (answer: unknown): Token => {
  const status: unknown = isRecord(answer) ? answer['status'] : undefined;
  const token = textIn(status, 'token');
  const expirationTimestamp = textIn(status, 'expirationTimestamp');
  if (token && expirationTimestamp) return { token, expirationTimestamp };
  throw new KubeError('malformed', 'Cannot create serviceaccounts/token: the answer holds no token');
};

const logQuery = (options: LogOptions): Record<string, string | number | boolean | undefined> => {
  const { container, follow, previous, timestamps, tailLines, sinceSeconds, sinceTime, limitBytes } = options;
  return {
    container,
    follow: follow || undefined,
    previous: previous || undefined,
    timestamps: timestamps || undefined,
    tailLines,
    sinceSeconds,
    sinceTime,
    limitBytes,
  };
};

const withVerdict = (
  request: Live<ICertificateSigningRequest>,
  { type, reason, message }: Verdict,
): Live<ICertificateSigningRequest> => {
  const conditions = [...(request.status?.conditions ?? []), { type, status: 'True', reason, message }];
  return { ...request, status: { ...request.status, conditions } };
};

export const createSubresources = (transport: Transport, clientOptions: ClientOptions): Subresources => {
  const caller = createCaller(transport, clientOptions);
  const client = clientOn(caller);
  return {
    getScale: async (resource, { namespace, name }, options = {}) => {
      const target = { namespace, name, subresource: 'scale' };
      const what = describe('get', resource, target);
      const answer = await caller.ask({ what, method: 'GET', path: pathOf(what, resource, target) }, options);
      return parseObject(what, scales, answer);
    },
    updateScale: async (resource, scale, options = {}) => {
      const { namespace, name } = scale.metadata;
      const target = { namespace, name, subresource: 'scale' };
      const what = describe('update', resource, target);
      const path = pathOf(what, resource, target, writeQuery(options));
      return parseObject(what, scales, await caller.ask({ what, method: 'PUT', path, body: scale }, options));
    },
    bindPod: async ({ namespace, name, uid }, node, options = {}) => {
      const body = {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name, namespace, ...(uid === undefined ? {} : { uid }) },
        target: { apiVersion: 'v1', kind: 'Node', name: node },
      };
      await post(caller, pods, { name, ...(namespace ? { namespace } : {}), subresource: 'binding' }, body, options);
    },
    evictPod: async ({ namespace, name }, options = {}) => {
      const body = {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name, namespace },
        deleteOptions: deleteBody(options),
      };
      await post(caller, pods, { name, ...(namespace ? { namespace } : {}), subresource: 'eviction' }, body, options);
    },
    createToken: async ({ namespace, name }, spec, options = {}) => {
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
      const target = { name, ...(namespace ? { namespace } : {}), subresource: 'token' };
      return tokenIn(await post(caller, serviceAccounts, target, body, options));
    },
    approveCertificate: async (request, verdict, options = {}) => {
      const known = request.status?.conditions?.some(({ type, status }) => type === verdict.type && status === 'True');
      if (known === true) return request;
      const body = withVerdict(request, verdict);
      return client.update(certificateSigningRequests, body, { ...options, subresource: 'approval' });
    },
    podLogs: async function* ({ namespace, name }, options = {}) {
      const target = { namespace, name, subresource: 'log' };
      const what = describe('read', pods, target);
      yield* caller.stream({ what, method: 'GET', path: pathOf(what, pods, target, logQuery(options)) }, options);
    },
    execInPod: (pod, options) => execInPod(transport, caller, pod, options),
  };
};
