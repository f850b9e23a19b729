import { followWorld } from './follow.ts';
import { observeWorld, type World } from './observe.ts';
import type { Sight } from './sight.ts';

/** Machines, Macs, fleets, Nodes and Pods: what most views are made of. */
export const worldSight: Sight<World> = { observe: observeWorld, follow: followWorld };
