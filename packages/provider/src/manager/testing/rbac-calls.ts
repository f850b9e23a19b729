import type { PolicyRule, PolicyRules, Transport, TransportRequest } from '@tartan/kube';

/** One call to an API server, as RBAC sees it. */
export interface Call {
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `pods/status`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

const path =
  /^\/(?:api\/v1|apis\/([^/]+)\/[^/]+)(?:\/namespaces\/([^/]+)(?=\/[^/]))?\/([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?$/;

const verbs: Readonly<Record<string, readonly [ofOne: string, ofAll: string]>> = {
  GET: ['get', 'list'],
  POST: ['create', 'create'],
  PUT: ['update', 'update'],
  PATCH: ['patch', 'patch'],
  DELETE: ['delete', 'deletecollection'],
};

/** Undefined: not about a resource. */
export const callOf = ({ method, path: whole }: Pick<TransportRequest, 'method' | 'path'>): Call | undefined => {
  const [where = '', query = ''] = whole.split('?');
  const [, group = '', namespace = '', resource, name = '', subresource] = path.exec(where) ?? [];
  const [ofOne, ofAll] = verbs[method] ?? [];
  if (resource === undefined || ofOne === undefined || ofAll === undefined) return undefined;
  const watches = new URLSearchParams(query).get('watch') === 'true';
  return {
    verb: watches ? 'watch' : name === '' ? ofAll : ofOne,
    group,
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    namespace,
    name,
  };
};

interface Sent {
  readonly spec?: { readonly signerName?: string };
  readonly metadata?: {
    readonly ownerReferences?: readonly { apiVersion: string; kind: string; blockOwnerDeletion?: boolean }[];
  };
}

/**
 * Rights that a server requires besides that of the call itself: for approving a certificate, and for blocking the deletion of an owner.
 */
const impliedCalls = (call: Call, body: string | undefined): Call[] => {
  if (body === undefined || body === '') return [];
  const { spec, metadata }: Sent = JSON.parse(body);
  const everywhere = { namespace: '', name: '' };
  if (call.resource === 'certificatesigningrequests/approval')
    return [{ ...everywhere, verb: 'approve', group: call.group, resource: 'signers', name: spec?.signerName ?? '' }];
  return (metadata?.ownerReferences ?? [])
    .filter(({ blockOwnerDeletion }) => blockOwnerDeletion)
    .map(({ apiVersion, kind }) => ({
      ...everywhere,
      verb: 'update',
      group: apiVersion.split('/')[0] ?? '',
      resource: `${kind.toLowerCase()}s/finalizers`,
    }));
};

/** A transport that records each kind of call once. */
export const recordCalls = (inner: Transport): { transport: Transport; calls: () => readonly Call[] } => {
  const seen = new Map<string, Call>();
  const note = (call: Call): void => void seen.set(Object.values(call).join(' '), call);
  return {
    calls: () => [...seen.values()],
    transport: {
      ...inner,
      send: (request) => {
        const call = callOf(request);
        if (call !== undefined) [call, ...impliedCalls(call, request.body)].forEach(note);
        return inner.send(request);
      },
    },
  };
};

/** The smallest unit of a role: one verb on one resource, of one name if it has names. */
export interface SingleRight {
  /** Empty: cluster-wide. */
  readonly namespace: string;
  readonly group: string;
  readonly resource: string;
  readonly name: string | undefined;
  readonly verb: string;
}

const singleRightsIn = (
  namespace: string,
  { apiGroups, resources, resourceNames, verbs: may }: PolicyRule,
): SingleRight[] =>
  apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      (resourceNames ?? [undefined]).flatMap((name) => may.map((verb) => ({ namespace, group, resource, name, verb }))),
    ),
  );

export const singleRights = ({ clusterWide, inNamespace }: PolicyRules): SingleRight[] => [
  ...clusterWide.flatMap((right) => singleRightsIn('', right)),
  ...Object.entries(inNamespace).flatMap(([namespace, rights]) =>
    rights.flatMap((right) => singleRightsIn(namespace, right)),
  ),
];

const covers = (atom: SingleRight, call: Call): boolean =>
  (atom.namespace === '' || atom.namespace === call.namespace) &&
  atom.group === call.group &&
  atom.resource === call.resource &&
  atom.verb === call.verb &&
  (atom.name === undefined || atom.name === call.name);

/** Calls that these rights do not allow. */
export const deniedCalls = (calls: readonly Call[], atoms: readonly SingleRight[]): readonly Call[] =>
  calls.filter((call) => !atoms.some((atom) => covers(atom, call)));

/** Rights that no call needs. */
export const unusedRights = (calls: readonly Call[], atoms: readonly SingleRight[]): readonly SingleRight[] =>
  atoms.filter(
    (atom) =>
      deniedCalls(
        calls,
        atoms.filter((each) => each !== atom),
      ).length === deniedCalls(calls, atoms).length,
  );

export const formatCall = ({ verb, group, resource, namespace, name }: Call | SingleRight): string =>
  [verb, group === '' ? resource : `${resource} (${group})`, name, namespace && `in ${namespace}`]
    .filter(Boolean)
    .join(' ');
