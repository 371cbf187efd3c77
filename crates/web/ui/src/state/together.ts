/** What runs once for all who use it: from the first of them until the last has let go. */
export function together(run: () => () => void): () => () => void {
  let users = 0;
  let stop: () => void = () => undefined;
  return () => {
    users += 1;
    if (users === 1) stop = run();
    let used = true;
    return () => {
      if (!used) return;
      used = false;
      users -= 1;
      if (users === 0) stop();
    };
  };
}
