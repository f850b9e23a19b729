/** A rule of a Role or ClusterRole. */
export interface Right {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** A rule about paths that are no resources. */
export interface PathRight {
  readonly nonResourceURLs: readonly string[];
  readonly verbs: readonly string[];
}

/** With what it is needed for: docs/rights.md shows it. */
export type Explained<R extends Right | PathRight = Right> = R & { readonly for: string };

/** As Kubernetes takes it. */
export const withoutReason = <R extends Right | PathRight>({ for: _reason, ...right }: Explained<R>) => right;

/** Who may do what: everywhere, and by namespace. */
export interface Rights<R extends Right = Right> {
  readonly clusterWide: readonly R[];
  /** By the namespace whose Role holds them. */
  readonly inNamespace: Readonly<Record<string, readonly R[]>>;
}

/** `what` is one resource or several, and may name their objects: `serviceaccounts/token capi-remote`. */
export const right = (apiGroup: string, what: string, verbs: readonly string[], why: string): Explained => {
  const [resources = '', ...names] = what.split(' ');
  return {
    apiGroups: [apiGroup],
    resources: resources.split(','),
    ...(names.length > 0 && { resourceNames: names }),
    verbs,
    for: why,
  };
};

/** A whole table as Kubernetes takes it. */
export const withoutReasons = ({ clusterWide, inNamespace }: Rights<Explained>): Rights => ({
  clusterWide: clusterWide.map(withoutReason<Right>),
  inNamespace: Object.fromEntries(
    Object.entries(inNamespace).map(([namespace, rights]) => [namespace, rights.map(withoutReason<Right>)]),
  ),
});
