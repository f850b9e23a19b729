import { formatProviderID, labels, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { type GhActionsRunner, type HostSpec, summaryHash } from '@tartan/host';
import { omitUndefined } from '../omit-undefined.ts';
import type { HostSettings } from './host-settings.ts';

/** Inputs besides the machine's object. None is secret. */
export interface HostSpecInputs {
  /** The login user on the Mac: `ssh-username` of the machine's Secret. */
  readonly user: string;
  /** Version of the join credentials that the Mac has, or is about to get: `status.joinVersion`. */
  readonly joinVersion: string;
  /** Version of the tailnet key, if there is a tailnet: see `readTailscaleKey`. */
  readonly tailscaleKeyVersion: string | undefined;
}

type SpecOutcome =
  | { readonly kind: 'specified'; readonly spec: HostSpec }
  /** For users: what is missing, and what to do. */
  | { readonly kind: 'problem'; readonly message: string };

type Machine = Pick<ScalewayAppleSiliconMachine, 'metadata' | 'spec' | 'status'>;

/**
 * The desired state of a machine's Mac, decided only here: the push at first boot, the push in a roll, and the hash for drift detection all
 * use it (INC-46, INC-237).
 */
export const hostSpecOf = (machine: Machine, facts: HostSpecInputs, settings: HostSettings): SpecOutcome => {
  const { spec } = machine;
  const providerID = providerIDOf(machine);
  const nodeName = machine.metadata?.name;
  if (!nodeName || providerID === undefined) return problem('It is not known which server this machine has.');
  if (facts.user === '')
    return problem('It is not known who logs in on the Mac: the Secret of the machine names no user.');
  if (settings.tailscale !== undefined && facts.tailscaleKeyVersion === undefined)
    return problem('The key of the tailnet could not be read, so the Mac would be cut off from it.');
  const builder = builderOf(machine, settings);
  if (builder === 'not here')
    return problem(
      'spec.ghActionsRunner wants a builder, and this manager has nothing to make one with. Give it ' +
        '--actions-runner-tarball-path, --packer-binary-path, --crane-binary-path and --oras-binary-path.',
    );
  if (builder !== undefined && !hasOwnLabel(builder.labels))
    return problem(
      `spec.ghActionsRunner.ghRunnerLabels (${builder.labels.join(',')}) has no label of its own, so that builders of two clusters would ` +
        'take each other’s jobs. Name the environment in it, as in self-hosted,macos,vm-image-builder,production.',
    );
  const wanted: HostSpec = omitUndefined({
    user: facts.user,
    nodeName,
    tart: settings.tart,
    vmEgress: settings.vmEgress,
    tailscale: tailscaleOf(settings.tailscale, facts.tailscaleKeyVersion ?? ''),
    nodeExporter: settings.nodeExporter,
    agent: omitUndefined({
      runtime: settings.agent.runtime,
      release: settings.agent.release,
      nodeLabels: spec.fleetName ? { [labels.fleet]: spec.fleetName } : {},
      providerID,
      kubeletVersion: spec.kubeletVersion || undefined,
      hostCPU: spec.hostCPU || settings.agent.hostCPU,
      hostMemoryMB: spec.hostMemoryMB || settings.agent.hostMemoryMB,
      maxPods: spec.maxPods || settings.agent.maxPods,
      joinVersion: facts.joinVersion,
    }),
    ghActionsRunner: builder,
  });
  const invalid = invalidSpecReason(wanted);
  return invalid === undefined ? { kind: 'specified', spec: wanted } : problem(invalid);
};

/** The steps refuse to hash an invalid specification. */
const invalidSpecReason = (spec: HostSpec): string | undefined => {
  try {
    summaryHash(spec);
    return undefined;
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
};

const problem = (message: string): SpecOutcome => ({ kind: 'problem', message });

const providerIDOf = ({ spec, status }: Machine): string | undefined => {
  if (spec.providerID) return spec.providerID;
  return status?.serverID ? formatProviderID({ zone: spec.zone, serverID: status.serverID }) : undefined;
};

const tailscaleOf = (tailscale: HostSettings['tailscale'], authKeyVersion: string): HostSpec['tailscale'] => {
  if (tailscale === undefined) return undefined;
  const { binaries, tags, acceptRoutes } = tailscale;
  return { binaries, tags, acceptRoutes, authKeyVersion };
};

const builderOf = ({ spec }: Machine, { builder }: HostSettings): GhActionsRunner | undefined | 'not here' => {
  const wanted = spec.ghActionsRunner;
  if (wanted === undefined) return undefined;
  if (builder === undefined) return 'not here';
  return { ...builder, org: wanted.ghOrg, labels: parseRunnerLabels(wanted.ghRunnerLabels) };
};

/** Labels that builders of every environment may have, from GitHub or by default. GitHub ignores case. */
const sharedRunnerLabels: ReadonlySet<string> = new Set([
  'self-hosted',
  'macos',
  'arm64',
  'bare-metal',
  'vm-image-builder',
]);

/** The labels in `spec.ghActionsRunner.ghRunnerLabels`. */
const parseRunnerLabels = (text: string): readonly string[] =>
  text
    .split(',')
    .map((label) => label.trim())
    .filter((label) => label !== '');

/** A runner takes every job whose labels it has. Without a label of its own it takes jobs of other environments (tuist/tuist#11019). */
const hasOwnLabel = (labels: readonly string[]): boolean =>
  labels.some((label) => !sharedRunnerLabels.has(label.toLowerCase()));

interface FleetFacts {
  readonly fleet: string;
  /** As for `hostSpecOf`. Also undefined when the key cannot be read: then nothing can be pushed to Macs either. */
  readonly tailscaleKeyVersion: string | undefined;
}

/**
 * A hash of what all Macs of a fleet have in common. When it changes, there is something to roll. What differs between Macs, such as the
 * name or the join credentials, is replaced by constants, and settings of single machines are left out.
 */
export const fleetRevision = (settings: HostSettings, { fleet, tailscaleKeyVersion }: FleetFacts): string => {
  const { agent, tart, vmEgress, tailscale, nodeExporter, builder } = settings;
  const spec: HostSpec = omitUndefined({
    user: 'user',
    nodeName: 'node',
    tart,
    vmEgress,
    tailscale: tailscaleOf(tailscale, tailscaleKeyVersion ?? ''),
    nodeExporter,
    agent: { ...agent, nodeLabels: { [labels.fleet]: fleet }, providerID: '', joinVersion: '' },
    ghActionsRunner: builder && { ...builder, org: '', labels: [] },
  });
  return summaryHash(spec);
};
