import type { Artifact } from '../artifacts/artifact.ts';
import type { Step } from '../steps/step.ts';

/**
 * A step for tests: a file `/var/fake/NAME` with the name of the Node. A file `refuse-NAME` beside it makes the step fail.
 * With `payload` it also keeps the join credentials in `NAME.secret`.
 */
export const fakeStep = (
  name: string,
  { artifact, ...overrides }: Partial<Step> & { readonly artifact?: () => Artifact } = {},
): Step => ({
  name,
  title: `write ${name}`,
  deadline: 120_000,
  intent: ({ nodeName }) => ({ nodeName, ...(artifact && { artifact: artifact() }) }),
  environment: (intent) => ({ NODE_NAME: 'nodeName' in intent ? String(intent.nodeName) : '', FAKE: name }),
  script: `
file=$ROOT/var/fake/$STEP

check() { [ "$(cat "$file" 2>/dev/null || true)" = "$NODE_NAME" ] || differs "$STEP is not $NODE_NAME"; }

apply() {
  [ ! -e "$ROOT/var/fake/refuse-$STEP" ] || fail "$STEP is refused: $(cat "$ROOT/var/fake/refuse-$STEP")"
  mkdir -p "$ROOT/var/fake"
  printf '%s\\n' "$STEP" >>"$ROOT/var/fake/journal"
  if [ "$HAS_PAYLOAD" = yes ]; then cat >"$file.secret"; fi
  printf '%s\\n' "$NODE_NAME" >"$file"
}

check_absent() { [ ! -e "$file" ] || differs "$STEP is left"; }
remove() { rm -f "$file" "$file.secret"; }
`,
  ...overrides,
});
