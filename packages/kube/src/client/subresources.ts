import type { ITokenRequestSpec } from 'kubernetes-models/authentication.k8s.io/v1/TokenRequestSpec';
import type { IScale } from 'kubernetes-models/autoscaling/v1/Scale';
import type { ICertificateSigningRequest } from 'kubernetes-models/certificates.k8s.io/v1/CertificateSigningRequest';
import { KubeError } from '../errors/kube-error.ts';
import { isRecord, textIn } from '../json.ts';
import { certificateSigningRequests, pods, serviceAccounts } from '../objects/builtin.ts';
import { defineResource, type KubeObject, type Live, type ObjectName, type Resource } from '../objects/object.ts';
import type { Transport } from '../transport/transport.ts';
import type { CallOptions, DeleteOptions, WriteOptions } from './client.ts';
import { createClientFrom, deleteBody, writeQuery } from './create-client.ts';
import { parseObject } from './parse-object.ts';
import { describeRequest, requestPath, type Target } from './request-path.ts';
import { type ClientOptions, createRestClient, type RestClient } from './rest-client.ts';

interface Token {
  token: string;
  expirationTimestamp: string;
}

interface LogOptions extends CallOptions {
  container?: string;
  /** Streams until the container ends or the signal fires. */
  follow?: boolean;
}

interface CertificateApproval {
  type: 'Approved' | 'Denied';
  /** One word, in CamelCase. */
  reason: string;
  message: string;
}

/** Subresources of objects. Rejects and retries as the client does. */
export interface Subresources {
  getScale<T extends KubeObject>(resource: Resource<T>, name: ObjectName, options?: CallOptions): Promise<Live<IScale>>;
  /** Compare-and-swap on the scale's resource version, which is that of the object behind it. */
  updateScale<T extends KubeObject>(
    resource: Resource<T>,
    scale: Live<IScale>,
    options?: WriteOptions,
  ): Promise<Live<IScale>>;
  /** Deletes a Pod unless a disruption budget forbids it: then `tooManyRequests`, with the server's retry delay. */
  evictPod(pod: ObjectName, options?: DeleteOptions): Promise<void>;
  createToken(serviceAccount: ObjectName, spec: Partial<ITokenRequestSpec>, options?: CallOptions): Promise<Token>;
  /**
   * Adds the verdict to the request as it was read (optimistic lock). Returns the request unchanged if it has that
   * verdict already.
   */
  approveCertificate(
    request: Live<ICertificateSigningRequest>,
    verdict: CertificateApproval,
    options?: CallOptions,
  ): Promise<Live<ICertificateSigningRequest>>;
  /** Streams the log. The deadline covers only the response headers. */
  podLogs(pod: ObjectName, options?: LogOptions): AsyncIterable<Uint8Array>;
}

const scales = defineResource<IScale>({
  group: 'autoscaling',
  version: 'v1',
  kind: 'Scale',
  plural: 'scales',
  namespaced: true,
});

/** POST to a subresource whose response is not the object. */
const post = async <T extends KubeObject>(
  rest: RestClient,
  resource: Resource<T>,
  target: Target,
  body: object,
  options: CallOptions,
): Promise<unknown> => {
  const what = describeRequest('create', resource, target);
  return rest.request(
    { what, method: 'POST', path: requestPath(what, resource, target, writeQuery({})), body },
    options,
  );
};

const tokenIn = (answer: unknown): Token => {
  const status: unknown = isRecord(answer) ? answer['status'] : undefined;
  const token = textIn(status, 'token');
  const expirationTimestamp = textIn(status, 'expirationTimestamp');
  if (token && expirationTimestamp) return { token, expirationTimestamp };
  throw new KubeError('malformed', 'Cannot create serviceaccounts/token: the answer holds no token');
};

const withApproval = (
  request: Live<ICertificateSigningRequest>,
  { type, reason, message }: CertificateApproval,
): Live<ICertificateSigningRequest> => {
  const conditions = [...(request.status?.conditions ?? []), { type, status: 'True', reason, message }];
  return { ...request, status: { ...request.status, conditions } };
};

export const createSubresources = (transport: Transport, clientOptions: ClientOptions): Subresources => {
  const rest = createRestClient(transport, clientOptions);
  const client = createClientFrom(rest);
  return {
    getScale: async (resource, { namespace, name }, options = {}) => {
      const target = { namespace, name, subresource: 'scale' };
      const what = describeRequest('get', resource, target);
      const answer = await rest.request({ what, method: 'GET', path: requestPath(what, resource, target) }, options);
      return parseObject(what, scales, answer);
    },
    updateScale: async (resource, scale, options = {}) => {
      const { namespace, name } = scale.metadata;
      const target = { namespace, name, subresource: 'scale' };
      const what = describeRequest('update', resource, target);
      const path = requestPath(what, resource, target, writeQuery(options));
      return parseObject(what, scales, await rest.request({ what, method: 'PUT', path, body: scale }, options));
    },
    evictPod: async ({ namespace, name }, options = {}) => {
      const body = {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name, namespace },
        deleteOptions: deleteBody(options),
      };
      await post(rest, pods, { namespace, name, subresource: 'eviction' }, body, options);
    },
    createToken: async ({ namespace, name }, spec, options = {}) => {
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
      const target = { namespace, name, subresource: 'token' };
      return tokenIn(await post(rest, serviceAccounts, target, body, options));
    },
    approveCertificate: async (request, verdict, options = {}) => {
      const known = request.status?.conditions?.some(({ type, status }) => type === verdict.type && status === 'True');
      if (known === true) return request;
      const body = withApproval(request, verdict);
      return client.update(certificateSigningRequests, body, { ...options, subresource: 'approval' });
    },
    podLogs: async function* ({ namespace, name }, options = {}) {
      const target = { namespace, name, subresource: 'log' };
      const what = describeRequest('read', pods, target);
      const query = { container: options.container, follow: options.follow || undefined };
      yield* rest.stream({ what, method: 'GET', path: requestPath(what, pods, target, query) }, options);
    },
  };
};
