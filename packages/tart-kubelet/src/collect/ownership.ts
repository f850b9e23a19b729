/** `unknown`: the journal or the marker could not be read. Whoever deletes reads it as not ours. */
export type Owner = 'ours' | 'not ours' | 'unknown';

/** Who made what is on this Mac. A name proves nothing: a bake may give its virtual machine any (INC-46, B5). */
export interface Ownership {
  /**
   * A local virtual machine is ours if the journal has it and its folder has our marker. Both, since a name can be used again, and a
   * folder be renamed. An image (`repository@digest`) is ours if the journal has that we fetched it. Only reads. Never rejects.
   */
  of(name: string): Promise<Owner>;
  /** It is deleted. Safe to repeat. */
  forget(name: string): Promise<void>;
}
