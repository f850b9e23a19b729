import { createRedactor, isKubeError, KubeError } from '@tartan/kube';

/** An error of Kubernetes as it was, but for the secret that a server may have repeated in it: errors end up in logs and events. */
export const redactError = (error: unknown, secret: string): unknown => {
  if (!isKubeError(error)) return error;
  const redactor = createRedactor();
  redactor.add(secret);
  const { reason, message, code, retryAfterMs } = error;
  const causes = error.causes.map((cause) =>
    Object.fromEntries(Object.entries(cause).map(([key, text]) => [key, text && redactor.text(text)])),
  );
  // Without the cause: whatever is in there has not been looked at.
  return new KubeError(reason, redactor.text(message), {
    code,
    retryAfterMs,
    causes,
  });
};
