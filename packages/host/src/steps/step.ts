import type { HostSecrets, HostSpec, OnDemandSecrets, Preparation } from '../host-spec.ts';

/**
 * One part of the state of a host, with a script of the same name in `scripts/`.
 *
 * The script defines `check` (prints what differs, changes nothing), `apply` and `remove` (safe on any state of the host, and after an
 * interruption at any point); `scripts/step.sh` calls them. First boot, rollout and doctor all run the same step.
 *
 * A step reads the host's specification only through `intent`, and the script gets only values made from the intent. So every path uses
 * the same fields, and a change of any field that a step uses changes its hash.
 *
 * `Spec`: the part of the specification from which the step makes its intent.
 */
export interface Step<Intent extends object = object, Spec = HostSpec> {
  /** Also the name of the script, and of the stamp on the host. */
  readonly name: string;
  /** What it does, for people: `log in at boot`. */
  readonly title: string;
  /** Takes effect only after a reboot, which is then recorded as pending on the host. */
  readonly needsReboot?: boolean;
  /** Would disconnect or kill running virtual machines: applied only while the host is idle. */
  readonly needsIdle?: boolean;
  /** Runs after all others, and its failure is reported without failing the host. */
  readonly optional?: boolean;
  /** Runs as the SSH user, before there is root and therefore before the lock. Must be atomic by itself. */
  readonly unprivileged?: boolean;
  /** Restarts this network: not applied over a connection that uses it. */
  readonly restartsTransport?: 'tailnet';
  /** Milliseconds for one run of its script, without pushing artifacts. */
  readonly deadline: number;
  /**
   * The desired state: plain data, no secrets. Artifacts in it are in the host's store before `apply` runs.
   * `undefined`: the feature is off and is removed from the host.
   */
  intent(spec: Spec): Intent | undefined;
  /** The script's variables. Every user of the host can see the values. */
  environment(intent: Intent): Readonly<Record<string, string>>;
  /** The standard input of `apply`, and the only channel for a secret. `undefined`: the input is empty, and `$HAS_PAYLOAD` is `no`. */
  payload?(intent: Intent, secrets: HostSecrets): string | undefined;
  /** A secret of its payload that is fetched only when its `check` prints the line `needs<tab>payload`. */
  readonly onDemandSecret?: keyof OnDemandSecrets;
  /** Why these secrets are invalid for this intent, and what to do; without quoting the secret. Called before anything is sent. */
  violation?(intent: Intent, secrets: HostSecrets): string | undefined;
  /** Replaces the script of that name, in tests of the engine. */
  readonly script?: string;
}

/** Infers the type of the intent. */
export const defineStep = <Intent extends object>(step: Step<Intent>): Step<Intent> => step;

/** A step as the engine runs it, with a specification that has all fields that it reads: see `stepsOf`. */
export type AnyStep = Step<object, Preparation>;
