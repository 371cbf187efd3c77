/** A canvas of a size on the page, empty. Setting its size would clear it too, but give it another memory each time. */
export function fresh(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const context = canvas.getContext('2d');
  const [wide, tall] = [Math.round(width * devicePixelRatio), Math.round(height * devicePixelRatio)];
  if (canvas.width !== wide || canvas.height !== tall) {
    [canvas.width, canvas.height] = [wide, tall];
    canvas.style.width = `${String(width)}px`;
    canvas.style.height = `${String(height)}px`;
  } else {
    context?.resetTransform();
    context?.clearRect(0, 0, wide, tall);
  }
  return context;
}
