/** The graphical session at the Mac's console, without which no virtual machine starts (F6, INC-06). */
export interface ConsoleSession {
  /** Whether it is there, as macOS says it now. Rejects when nobody can tell. */
  isThere(signal: AbortSignal): Promise<boolean>;
  /**
   * Resolves when it is there. If it is not, loginwindow is restarted as launchd does it and the session is waited for (INC-08, G19);
   * rejects with a sentence for people when that did not help. Callers share one restart, and a session that was seen is not healed.
   */
  ensure(signal: AbortSignal): Promise<void>;
}
