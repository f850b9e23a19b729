/** Machines that are asked for, by fleet. Builders are there where there is a GitHub for them. */
export interface FleetSizes {
  readonly macos: number;
  readonly runners: number;
  readonly builders?: number;
}

/** From so many machines on one of them bakes images. */
const enoughForBuilders = 3;

/**
 * Machines, divided among the fleets: one is a builder, if there are enough or somebody says so; of the others the first fleet gets
 * what is left over, and is never empty.
 */
export const fleetSizes = (machines: number, wantedBuilders?: number): Required<FleetSizes> => {
  const builders = Math.min(wantedBuilders ?? (machines >= enoughForBuilders ? 1 : 0), machines - 1);
  const others = machines - builders;
  return { macos: Math.ceil(others / 2), runners: Math.floor(others / 2), builders };
};
