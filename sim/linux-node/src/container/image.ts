/** An image that needs no pulling: its file system, unpacked. */
export interface Image {
  readonly folder: string;
  /** As whom its containers run when the Pod does not say; root unless told. */
  readonly user?: number;
}
