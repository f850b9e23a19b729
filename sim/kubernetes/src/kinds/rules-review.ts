import type { Attributes, Roles } from '../auth/authorizer.ts';
import { nodeNameOf } from '../auth/nodes/node-name.ts';
import { joinProblems } from '../auth/roles/role-authorizer.ts';
import type { User } from '../auth/user.ts';
import { isObject, type ObjectMeta } from '../object.ts';
import type { Resource, WriteContext } from '../resource.ts';
import { badRequest } from '../status/api-error.ts';

interface ResourceRule {
  verbs: string[];
  apiGroups: string[];
  resources: string[];
}

const paths = [
  '/api',
  '/api/*',
  '/apis',
  '/apis/*',
  '/healthz',
  '/livez',
  '/openapi',
  '/openapi/*',
  '/readyz',
  '/version',
];

interface Answer {
  resourceRules: object[];
  nonResourceRules: object[];
  incomplete: boolean;
  evaluationError?: string;
}

/** What roles grant, as it stands in them. What the Node authorizer adds for Nodes cannot be listed. */
const listed = (roles: Roles, user: User, namespace: string): Answer => {
  const { rules, problems } = roles.rulesFor(user, namespace);
  const isNode = nodeNameOf(user) !== undefined;
  const unsaid = [...(isNode ? ['node authorizer does not support user rule resolution'] : []), ...problems];
  return {
    resourceRules: rules
      .filter(({ resources }) => resources.length > 0)
      .map(({ verbs, apiGroups, resources, resourceNames }) => ({
        verbs,
        apiGroups,
        resources,
        ...(resourceNames.length === 0 ? {} : { resourceNames }),
      })),
    nonResourceRules: rules
      .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: isNode,
    ...(unsaid.length === 0 ? {} : { evaluationError: joinProblems(unsaid) }),
  };
};

/**
 * Other authorizers answer questions and do not list rules, so every served kind is asked about. That finds all there is but rules
 * for single names, which is why the answer says that it is incomplete; who may do everything gets that as one rule, and complete.
 */
const askedFor = (context: WriteContext, namespace: string): Answer => {
  const may = asker(context, namespace);
  const everything = may({ verb: '*', group: '*', resource: '*' });
  const everyPath = may({ verb: '*', nonResourcePath: '*' });
  return {
    resourceRules: everything ? [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] : resourceRules(context, may),
    nonResourceRules: everyPath ? [{ verbs: ['*'], nonResourceURLs: ['*'] }] : pathRules(may),
    incomplete: !everything,
  };
};

export const rulesReview: NonNullable<Resource['review']> = (object, context) => {
  const spec = isObject(object['spec']) ? object['spec'] : {};
  const namespace = typeof spec['namespace'] === 'string' ? spec['namespace'] : '';
  if (namespace === '') throw badRequest('no namespace on request');
  const { roles } = context.api;
  return {
    kind: 'SelfSubjectRulesReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: {} as ObjectMeta,
    spec: {},
    status: roles ? listed(roles, context.user, namespace) : askedFor(context, namespace),
  };
};

type May = (question: Partial<Attributes>) => boolean;

const asker =
  ({ api, user }: WriteContext, namespace: string): May =>
  (question) =>
    api.authorize({
      user,
      verb: '',
      group: '',
      version: '*',
      resource: '',
      subresource: '',
      namespace,
      name: '',
      fieldSelector: '',
      labelSelector: '',
      ...question,
    }).allowed;

const resourceRules = ({ api }: WriteContext, may: May): ResourceRule[] =>
  api.resources().flatMap(({ group, plural, namespaced, verbs, subresources }) => {
    const endpoints = [{ name: '', verbs }, ...subresources];
    return endpoints.flatMap((endpoint) => {
      const scope = namespaced ? {} : { namespace: '' };
      const question = { group, resource: plural, subresource: endpoint.name, ...scope };
      const allowed = endpoint.verbs.filter((verb) => may({ ...question, verb }));
      const resource = endpoint.name === '' ? plural : `${plural}/${endpoint.name}`;
      return allowed.length === 0 ? [] : [{ verbs: allowed, apiGroups: [group], resources: [resource] }];
    });
  });

const pathRules = (may: May): { verbs: string[]; nonResourceURLs: string[] }[] => {
  const allowed = paths.filter((nonResourcePath) => may({ verb: 'get', nonResourcePath }));
  return allowed.length === 0 ? [] : [{ verbs: ['get'], nonResourceURLs: allowed }];
};
