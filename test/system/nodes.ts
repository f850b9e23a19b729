import { annotations } from '@tartan/api';
import type { Live, nodes } from '@tartan/kube';

export type Node = Live<NonNullable<(typeof nodes)['ofType']>>;

export const isReady = ({ status }: Pick<Node, 'status'>): boolean =>
  (status?.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True');

export const runsAgent =
  (version: string) =>
  (node: Node): boolean =>
    isReady(node) && node.metadata.annotations?.[annotations.agentVersion] === `v${version}`;
