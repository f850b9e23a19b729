import { renderPlist } from '../launchd/plist.ts';
import type { VmEgress } from '../spec/host-spec.ts';
import { egressRules } from './egress-rules.ts';
import type { Step } from './step.ts';

interface Intent {
  readonly vmEgress: VmEgress;
}

/**
 * Fills the anchors and enables pf, which macOS leaves off at boot; nothing else, as it also runs whenever it is registered, on hosts
 * with virtual machines (G-13). Tries again for a minute: Apple's own job loads pf.conf at the same time.
 */
const atBoot = `tries=30
until pfctl -a com.apple/tuist.runners -f /etc/pf.anchors/tuist.runners && pfctl -a tuist.runners -f /etc/pf.anchors/tuist.runners; do
  tries=$((tries - 1))
  [ "$tries" -gt 0 ] || exit 1
  sleep 2
done
pfctl -s info 2>/dev/null | grep -q '^Status: Enabled' || pfctl -E
`;

const bootJob = renderPlist({
  label: 'dev.tuist.pfctl-runners',
  arguments: ['/bin/sh', '-c', atBoot],
  runAtLoad: true,
  log: '/var/log/tuist-pfctl-runners.log',
});

/**
 * Keeps virtual machines out of private networks.
 *
 * The rules are loaded twice. `com.apple/tuist.runners` counts at once, because macOS's own main ruleset looks into everything below
 * `com.apple`. `tuist.runners`, which fleets of old have in their pf.conf, counts from the next boot: on a live host the main ruleset is
 * never loaded anew, which would drop what the system has put there (I-49, I-55).
 */
export const vmEgress: Step<Intent> = {
  name: 'vm-egress',
  title: 'keep virtual machines out of private networks',
  deadline: 120_000,
  intent: ({ vmEgress }) => ({ vmEgress }),
  environment: ({ vmEgress }) => {
    const { text, label } = egressRules(vmEgress);
    return { RULES: text, RULES_LABEL: label, PLIST: bootJob };
  },
};
