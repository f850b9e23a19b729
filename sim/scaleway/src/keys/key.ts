import type { SimulatedScaleway } from '../scaleway.ts';

/** A public key that was registered for a project. */
export type Key = ReturnType<SimulatedScaleway['keys']>[number] & { readonly createdAt: number };
