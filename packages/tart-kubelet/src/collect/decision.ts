/** Why it goes. */
export type Worthless =
  /** A clone whose Pod is gone. */
  | 'orphan clone'
  /** An image that neither a Pod nor a golden base needs. */
  | 'stale image'
  /** Not needed for longer than bases are kept. */
  | 'stale golden base'
  /** Needed again one day, but space is needed now. */
  | 'under pressure';

export interface Deletion {
  readonly kind: 'virtual machine' | 'image';
  /** As `tart delete` takes it. */
  readonly name: string;
  /** What ownership is known by: the name, or the `repository@digest` that a tag points at. */
  readonly owned: string;
  readonly why: Worthless;
}

export type Spared = 'running' | 'in use by tart' | 'files are open' | 'held';

export type Decision =
  | { readonly kind: 'abort'; readonly why: 'the Pods are not known' | 'the virtual machines are not known' }
  | {
      readonly kind: 'collect';
      readonly deletions: readonly Deletion[];
      /** Worthless, but alive. */
      readonly spared: readonly { readonly name: string; readonly because: Spared }[];
      /** Space is short: after these deletions it is looked at again. */
      readonly pressure: boolean;
      /** What to remember of the golden bases. */
      readonly lastUsed: ReadonlyMap<string, number>;
    };
