import { createRestClient, KubeError, type Transport } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import * as z from 'zod/mini';
import type { Route } from '../parse-request.ts';

/** A permission on `nodes/<subresource>` of this node. */
export interface Permission {
  readonly verb: 'get' | 'create';
  readonly subresource: string;
}

const get = (subresource: string): Permission => ({ verb: 'get', subresource });
const createProxy: Permission = { verb: 'create', subresource: 'proxy' };

/**
 * Permissions per route; any one of them suffices. Narrow ones come first, so that reading Pods or health does not need `nodes/proxy`,
 * which is equivalent to root. Running commands requires `create`, even when a WebSocket starts with GET.
 */
export const permissions: Readonly<Record<Route['kind'], readonly Permission[]>> = {
  exec: [createProxy],
  attach: [createProxy],
  portForward: [createProxy],
  containerLogs: [get('proxy')],
  metrics: [get('metrics')],
  resourceMetrics: [get('metrics')],
  noMetrics: [get('metrics')],
  pods: [get('pods'), get('proxy')],
  health: [get('healthz'), get('proxy')],
};

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
  readonly uid?: string | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

const tokenReview = z.object({
  status: z.object({
    authenticated: z.optional(z.boolean()),
    user: z.optional(
      z.object({
        username: z.optional(z.string()),
        uid: z.optional(z.string()),
        groups: z.nullish(z.array(z.string())),
        extra: z.nullish(z.record(z.string(), z.array(z.string()))),
      }),
    ),
  }),
});
const accessReview = z.object({ status: z.object({ allowed: z.boolean(), denied: z.optional(z.boolean()) }) });

const deadlineMs = 10_000;

/** Reviews are not stored, so they lack the metadata that the client requires of objects. */
export const createReviews = (options: { transport: Transport; clock: Clock; nodeName: string }) => {
  const { transport, clock, nodeName } = options;
  const rest = createRestClient(transport, { clock, userAgent: 'tart-kubelet', defaultDeadlineMs: deadlineMs });

  const post = async <T>(group: string, plural: string, review: object, shape: z.ZodMiniType<T>): Promise<T> => {
    const what = `create ${plural}`;
    const body = { apiVersion: `${group}/v1`, ...review };
    const answer = await rest.request({ what, method: 'POST', path: `/apis/${group}/v1/${plural}`, body });
    const { data } = shape.safeParse(answer);
    if (data === undefined) throw new KubeError('malformed', `Cannot ${what}: the answer is no review`);
    return data;
  };

  return {
    /** The token's user; undefined for an invalid token. */
    reviewToken: async (token: string): Promise<User | undefined> => {
      const body = { kind: 'TokenReview', spec: { token } };
      const { status } = await post('authentication.k8s.io', 'tokenreviews', body, tokenReview);
      const name = status.user?.username ?? '';
      if (status.authenticated !== true || name === '') return undefined;
      const { uid, groups, extra } = status.user ?? {};
      return { name, uid, groups: groups ?? [], extra: extra ?? undefined };
    },
    reviewAccess: async ({ name, groups, uid, extra }: User, { verb, subresource }: Permission) => {
      const resourceAttributes = { group: '', version: 'v1', resource: 'nodes', name: nodeName, verb, subresource };
      const spec = { user: name, groups, uid, extra, resourceAttributes };
      const body = { kind: 'SubjectAccessReview', spec };
      const { status } = await post('authorization.k8s.io', 'subjectaccessreviews', body, accessReview);
      return status.allowed && status.denied !== true;
    },
  };
};

/** Authentication and authorization by the API server. Rejects with KubeError. */
export type Reviews = ReturnType<typeof createReviews>;
