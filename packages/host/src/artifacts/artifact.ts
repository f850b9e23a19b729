/** One file that is pushed to hosts, known by its content. Nothing of it is kept in memory. */
export interface Artifact {
  /** For people: `tart 2.32.1`. */
  readonly name: string;
  readonly sha256: string;
  readonly size: number;
  /** Where it lies on this side. */
  readonly file: string;
}
