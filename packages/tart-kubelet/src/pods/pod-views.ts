import type { KubeObject, Live } from '@tartan/kube';
import type { Pod } from './snapshot.ts';

/** A Pod of this Mac as those see it who reach into it. */
export interface PodView {
  readonly pod: Live<Pod>;
  readonly vm: string;
  /** That of its container now. */
  readonly run: number;
  /** `undefined`: its virtual machine is not on. */
  readonly running: { readonly pid: number; readonly since: number; readonly address: string | undefined } | undefined;
}

/** The Pods of this Mac, from memory. */
export interface PodViews {
  /** With the status that they are to have, even if the server did not take it yet. */
  all(): readonly KubeObject[];
  /** Of Pods that share a name in the course of time, the one that the server has. */
  find(name: { readonly namespace: string; readonly pod: string }): PodView | undefined;
}
