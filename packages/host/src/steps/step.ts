import type { HostSecrets, HostSpec, OnDemandSecrets, Preparation } from '../host-spec.ts';

/**
 * One part of the state of a host, with a script of the same name in `scripts/`.
 *
 * The script defines `check` (prints what differs, changes nothing), `apply` and `remove` (safe on any state of the host, and after
 * being cut anywhere); `scripts/step.sh` says how they are called. First boot, roll and doctor all run this same step.
 *
 * A step sees the host's specification only through `intent`, and the script sees nothing but what is made from the intent: so a
 * field cannot reach one path and miss the other, and a change of any field that a step uses changes its hash.
 *
 * `Spec`: the part of the specification that it takes its intent from.
 */
export interface Step<Intent extends object = object, Spec = HostSpec> {
  /** Also the name of the script, and of the stamp on the host. */
  readonly name: string;
  /** What it does, for people: `log in at boot`. */
  readonly title: string;
  /** Takes effect only after a reboot, which is then recorded as pending on the host. */
  readonly needsReboot?: boolean;
  /** Would cut or kill running virtual machines: applied only while the host is idle. */
  readonly needsIdle?: boolean;
  /** Runs after all others, and its failure is reported without failing the host. */
  readonly optional?: boolean;
  /** Runs as the user that logs in, before there is root, and before the lock that needs it. Must be atomic by itself. */
  readonly unprivileged?: boolean;
  /** Restarts this network: not applied over a connection that runs over it. */
  readonly restartsTransport?: 'tailnet';
  /** Milliseconds for one run of its script, artifacts apart. */
  readonly deadline: number;
  /**
   * What the host should have: plain data, no secrets. Artifacts in it are in the host's store before `apply` runs.
   * `undefined`: the feature is off, and is removed from the host.
   */
  intent(spec: Spec): Intent | undefined;
  /** What the script reads as `$NAME`. Every value is visible to all on the host. */
  environment(intent: Intent): Readonly<Record<string, string>>;
  /** The standard input of `apply`: the only way for a secret. `undefined`: the input is empty, and `$HAS_PAYLOAD` is `no`. */
  payload?(intent: Intent, secrets: HostSecrets): string | undefined;
  /** The secret of its payload that is only fetched when its `check` reports that it is needed: by a line `needs<tab>payload`. */
  readonly onDemandSecret?: keyof OnDemandSecrets;
  /** Why these secrets cannot do for this intent, and what to do about it; for people, without the secret. Asked before anything is sent. */
  violation?(intent: Intent, secrets: HostSecrets): string | undefined;
  /** Stands in for the script of that name, in tests of the engine. */
  readonly script?: string;
}

/** Infers the type of the intent. */
export const defineStep = <Intent extends object>(step: Step<Intent>): Step<Intent> => step;

/** A step as the engine runs it, with a specification that has all fields that it reads: see `stepsOf`. */
export type AnyStep = Step<object, Preparation>;
