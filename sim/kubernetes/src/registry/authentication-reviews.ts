import { timestamp } from '@tartan/kube/clock';
import { authenticateToken } from '../authentication/authenticator.ts';
import type { User } from '../authentication/user.ts';
import { badRequest } from '../errors/api-error.ts';
import { isObject, type KubeObject, type ObjectMeta } from '../object.ts';
import type { ClusterPki } from '../pki/pki.ts';
import type { Resource } from '../resource.ts';
import { accessReviews, rulesReview } from './authorization-reviews.ts';

type Review = NonNullable<Resource['review']>;

const userInfo = ({ name, uid, groups, extra }: User): Record<string, unknown> => ({
  username: name,
  ...(uid ? { uid } : {}),
  ...(groups.length > 0 ? { groups } : {}),
  ...(extra && Object.keys(extra).length > 0 ? { extra } : {}),
});

const selfSubjectReview: Review = (_object, { api, user }) => ({
  kind: 'SelfSubjectReview',
  apiVersion: 'authentication.k8s.io/v1',
  metadata: { creationTimestamp: timestamp(api.clock.now()) } as ObjectMeta,
  status: { userInfo: userInfo(user) },
});

/** The texts of the two authenticators that tried the token, as the real server joins them. */
const reviewError = (problem: string | undefined): string =>
  problem === undefined ? 'invalid bearer token' : `[invalid bearer token, ${problem}]`;

const tokenReview =
  (identity: ClusterPki): Review =>
  async (object, { api }): Promise<KubeObject> => {
    const spec = isObject(object['spec']) ? object['spec'] : {};
    const token = typeof spec['token'] === 'string' ? spec['token'] : '';
    if (token === '') throw badRequest('token is required for TokenReview in authentication');
    const asked = Array.isArray(spec['audiences']) ? spec['audiences'].map(String) : [];
    const verdict = await authenticateToken(token, asked.length > 0 ? asked : [identity.issuer], api, identity);
    const status =
      'user' in verdict
        ? { authenticated: true, user: userInfo(verdict.user), audiences: verdict.audiences }
        : { user: {}, error: reviewError(verdict.problem) };
    return { ...object, status };
  };

/** The kinds that are answered and never stored, by plural. */
export const reviews = (identity: ClusterPki): Record<string, Review> => ({
  selfsubjectreviews: selfSubjectReview,
  tokenreviews: tokenReview(identity),
  ...accessReviews,
  selfsubjectrulesreviews: rulesReview,
});
