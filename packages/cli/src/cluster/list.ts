import { type CallOptions, isKubeError, type KubeObject, type Live, type Resource } from '@tartan/kube';
import { type Cluster, ClusterError, explainRefusal } from './connection.ts';

/** Which objects. */
export interface Scope extends CallOptions {
  /** All of them unless told. */
  readonly namespace?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

/** `machosts.infrastructure.cluster.x-k8s.io`, as `kubectl auth can-i` takes it. */
const qualifiedName = ({ plural, group }: { plural: string; group: string }): string =>
  group === '' ? plural : `${plural}.${group}`;

/** Every object of a kind, page by page. Rejects with a sentence: what could not be read, why, and what helps. */
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
    `The right that is missing is "list" of ${qualifiedName(resource)} (${right}).${narrow}`,
    list.catch((error: unknown) => {
      throw isKubeError(error, 'notFound') ? new ClusterError(notInstalledMessage(resource), { cause: error }) : error;
    }),
  );
  return items;
};

const notInstalledMessage = ({ kind, group }: { kind: string; group: string }): string =>
  `This cluster knows no ${kind} (${group}): Tartan's custom resources are not installed, or this is another cluster (kubectl config current-context). They are in packages/api/crds: kubectl apply -f packages/api/crds.`;

/** What could be read; or why not, in one sentence, for a view that makes sense without it. */
export type ListResult<T extends KubeObject> =
  | { readonly kind: 'listed'; readonly items: readonly Live<T>[] }
  | { readonly kind: 'unreadable'; readonly why: string };

/** The same for what a view can do without: only a missing right, or a missing kind, is forgiven. */
export const listIfAllowed = async <T extends KubeObject>(
  cluster: Pick<Cluster, 'client'>,
  resource: Resource<T>,
  scope: Scope = {},
): Promise<ListResult<T>> => {
  try {
    return { kind: 'listed', items: await listAll(cluster, resource, scope) };
  } catch (error) {
    const { cause } = error instanceof Error ? error : {};
    if (!(error instanceof Error) || !isKubeError(cause, 'forbidden', 'notFound')) throw error;
    return { kind: 'unreadable', why: error.message };
  }
};

export const itemsOf = <T extends KubeObject>(readable: ListResult<T>): readonly Live<T>[] =>
  readable.kind === 'listed' ? readable.items : [];

/** For people: what is missing in a view, if anything is. */
export const unreadNote = (readable: ListResult<KubeObject>): string[] =>
  readable.kind === 'unreadable' ? [readable.why] : [];
