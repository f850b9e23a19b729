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
