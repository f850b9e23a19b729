/**
 * Where keys come from. Called when the controller starts; the returned function ends the subscription. What goes wrong for a
 * single change is told to `report`: a source never throws into the cache that feeds it.
 */
export type Source = (enqueue: (key: string) => void, report: (error: unknown) => void) => () => void;
