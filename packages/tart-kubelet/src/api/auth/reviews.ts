import { KubeError, type Transport } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { z } from 'zod';
import type { Route } from '../parse-request.ts';

/** A right on `nodes/<subresource>` of this node. */
export interface Permission {
  readonly verb: 'get' | 'create';
  readonly subresource: string;
}

/**
 * What one must be allowed to do, in the words of Kubernetes' roles; any one of them is enough. Narrow ones come first, so that who reads
 * Pods or health needs no `nodes/proxy`, which is as good as root. To run something takes `create`, also when a WebSocket starts with GET.
 */
export const permissionsFor = ({ kind }: Route): readonly Permission[] => {
  switch (kind) {
    case 'exec':
    case 'attach':
    case 'portForward':
      return [{ verb: 'create', subresource: 'proxy' }];
    case 'containerLogs':
      return [{ verb: 'get', subresource: 'proxy' }];
    case 'metrics':
    case 'resourceMetrics':
    case 'noMetrics':
      return [{ verb: 'get', subresource: 'metrics' }];
    case 'pods':
      return [
        { verb: 'get', subresource: 'pods' },
        { verb: 'get', subresource: 'proxy' },
      ];
    case 'health':
      return [
        { verb: 'get', subresource: 'healthz' },
        { verb: 'get', subresource: 'proxy' },
      ];
  }
};

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
  readonly uid?: string | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** What the API server knows of who comes to us. Rejects with KubeError. */
export interface Reviews {
  /** Whose token it is; undefined for nobody's. */
  reviewToken(token: string): Promise<User | undefined>;
  reviewAccess(user: User, permission: Permission): Promise<boolean>;
}

const tokenReview = z.object({
  status: z.object({
    authenticated: z.boolean().optional(),
    user: z
      .object({
        username: z.string().optional(),
        uid: z.string().optional(),
        groups: z.array(z.string()).nullish(),
        extra: z.record(z.string(), z.array(z.string())).nullish(),
      })
      .optional(),
  }),
});
const accessReview = z.object({ status: z.object({ allowed: z.boolean(), denied: z.boolean().optional() }) });

const deadlineMs = 10_000;
const maxBodyBytes = 256 * 1024;

const readBody = async (body: AsyncIterable<Uint8Array>): Promise<string> => {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.byteLength;
    if (size > maxBodyBytes) throw new KubeError('malformed', 'The answer to a review is too long to be one');
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
};

/** Reviews are answered at once and stored nowhere, so they have none of the metadata by which the client knows objects. */
export const createReviews = (options: { transport: Transport; clock: Clock; nodeName: string }): Reviews => {
  const { transport, clock, nodeName } = options;

  const post = async <T>(group: string, plural: string, body: object, shape: z.ZodType<T>): Promise<T> => {
    const expired = new AbortController();
    const cancelTimer = clock.after(deadlineMs, () =>
      expired.abort(new KubeError('timeout', `Cannot create ${plural}: no answer within ${deadlineMs / 1000} s`)),
    );
    try {
      const response = await transport.send({
        method: 'POST',
        path: `/apis/${group}/v1/${plural}`,
        headers: { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'tart-kubelet' },
        body: JSON.stringify({ apiVersion: `${group}/v1`, ...body }),
        signal: expired.signal,
      });
      const text = await readBody(response.body);
      if (response.code !== 201 && response.code !== 200) {
        throw new KubeError('serverError', `Cannot create ${plural}: the server answered ${response.code}`, {
          code: response.code,
        });
      }
      return shape.parse(JSON.parse(text));
    } catch (error) {
      if (error instanceof KubeError) throw error;
      throw new KubeError('malformed', `Cannot create ${plural}: the answer is no review`, { cause: error });
    } finally {
      cancelTimer();
    }
  };

  return {
    reviewToken: async (token) => {
      const body = { kind: 'TokenReview', spec: { token } };
      const { status } = await post('authentication.k8s.io', 'tokenreviews', body, tokenReview);
      const name = status.user?.username ?? '';
      if (status.authenticated !== true || name === '') return undefined;
      const { uid, groups, extra } = status.user ?? {};
      return { name, uid, groups: groups ?? [], extra: extra ?? undefined };
    },
    reviewAccess: async ({ name, groups, uid, extra }, { verb, subresource }) => {
      const resourceAttributes = { group: '', version: 'v1', resource: 'nodes', name: nodeName, verb, subresource };
      const spec = { user: name, groups, uid, extra, resourceAttributes };
      const body = { kind: 'SubjectAccessReview', spec };
      const { status } = await post('authorization.k8s.io', 'subjectaccessreviews', body, accessReview);
      return status.allowed && status.denied !== true;
    },
  };
};
