"""What all visitors share in memory: models, their runs, charts; bounded in bytes."""
