import { type CallOptions, isKubeError, type KubeObject, type Live, type Resource } from '@tartan/kube';
import { type Cluster, explainRefusal } from './connection.ts';

interface Scope extends CallOptions {
  /** Undefined: all namespaces. */
  readonly namespace?: string | undefined;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

/** `machosts.infrastructure.cluster.x-k8s.io`, as `kubectl auth can-i` accepts it. */
const qualifiedName = ({ plural, group }: { plural: string; group: string }): string =>
  group === '' ? plural : `${plural}.${group}`;

/** Lists all objects of a kind. The error says what could not be read, why, and what to do. */
export const listAll = async <T extends KubeObject>(
  { client }: Pick<Cluster, 'client'>,
  resource: Resource<T>,
  scope: Scope = {},
): Promise<Live<T>[]> => {
  const { namespace, ...rest } = scope;
  const where = !resource.namespaced ? '' : namespace ? ` in the namespace ${namespace}` : ' in all namespaces';
  const narrow = resource.namespaced && !namespace ? ' Name a namespace that you may read with --namespace.' : '';
  const flag = resource.namespaced ? (namespace ? ` -n ${namespace}` : ' -A') : '';
  const right = `kubectl auth can-i list ${qualifiedName(resource)}${flag}`;
  const list = client.list(resource, { ...rest, ...(resource.namespaced && namespace && { namespace }) });
  const { items } = await explainRefusal(
    `list ${resource.plural}${where}`,
    `The missing permission is "list" on ${qualifiedName(resource)} (${right}).${narrow}`,
    list.catch((error: unknown) => {
      throw isKubeError(error, 'notFound') ? new Error(notInstalledMessage(resource), { cause: error }) : error;
    }),
  );
  return items;
};

const notInstalledMessage = ({ kind, group }: { kind: string; group: string }): string =>
  `The kind ${kind} (${group}) is not installed in this cluster. Check that it is the right one (kubectl config current-context), or install the CRDs of Tartan: kubectl apply -f packages/api/crds.`;

/** The objects; or, if they are undefined, a note that says why they could not be read. */
interface ListResult<T extends KubeObject> {
  readonly items: readonly Live<T>[] | undefined;
  readonly notes: readonly string[];
}

/** Lists what a view can do without: a missing permission or a missing kind becomes a note. */
export const listIfAllowed = async <T extends KubeObject>(
  cluster: Pick<Cluster, 'client'>,
  resource: Resource<T>,
  scope: Scope = {},
): Promise<ListResult<T>> => {
  try {
    return { items: await listAll(cluster, resource, scope), notes: [] };
  } catch (error) {
    const { cause } = error instanceof Error ? error : {};
    if (!(error instanceof Error) || !isKubeError(cause, 'forbidden', 'notFound')) throw error;
    return { items: undefined, notes: [error.message] };
  }
};
